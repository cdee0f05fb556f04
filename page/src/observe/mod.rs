//! What a page says: console messages, uncaught errors, requests.
//!
//! | file | holds |
//! |---|---|
//! | `ring` | [`Heard`]: the last ones, and how many are missing |
//! | `console` | [`ConsoleMessage`], [`Level`], [`Uncaught`], read from events |
//! | `text` | a message as `DevTools` would print it |
//! | `requests` | [`Request`]: rows made from the Network domain's events |
//! | `observations` | [`Observations`]: the three rings of a tab, a plain value |
//! | `watch` | the session that brings the events, and those of its frames |
//! | `response` | [`Response`]: one that is waited for, with its body |
//! | `pattern` | which address is meant |
//!
//! All of it comes over a link of its own: one event may carry a whole request body or console
//! message, and where that is over the frame limit only this link closes.

mod address;
mod challenge;
mod console;
mod observations;
mod pattern;
mod requests;
mod response;
mod ring;
mod text;
mod watch;

pub use challenge::{Challenge, Obstacle, Stopped};
pub use console::{ConsoleMessage, Level, Location, Uncaught};
pub use observations::Observations;
pub use pattern::UrlPattern;
pub use requests::Request;
pub use response::{Response, ResponseError};
pub use ring::Heard;
pub use watch::{Observing, Watching};

/// Longest string of a row, in characters.
const LONGEST: usize = 2048;

/// `text` up to the longest that is kept.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => text[..at].to_owned(),
        None => text.to_owned(),
    }
}
