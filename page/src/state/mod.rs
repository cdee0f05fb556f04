//! What a tab shows, from CDP events: url, title, favicon, loading, error, history.
//!
//! | file | holds |
//! |---|---|
//! | `model` | [`PageState`], [`LastGood`]: what is known, and what is kept |
//! | `event` | what the reducer hears |
//! | `reducer` | [`Reducer`]: from events to the state, and what to read next; pure |
//! | `net_error` | names and numbers of network errors |
//! | `observer` | the script in an isolated world of the document, and how it is heard |
//! | `watch` | [`set_up`] and [`Watching`]: a session, its events and a reducer |
//!
//! The session must not hear what a page can make arbitrarily much of. So neither `Runtime` is enabled on
//! it (`observer` tells how its binding is heard without) nor `Network`: measured on Chromium 156, a
//! request's event carries its whole body although `maxPostDataSize` is 0, and whole `data:` URLs, and
//! a message over the limit ends the link. All that `Network` would tell is the name of a failed load's
//! error, and the error page has it: the isolated world reads it there, and until then the error is
//! `net::ERR_FAILED`. `Log` does not tell it.
//!
//! Not bounded: the first reading of a history or a frame tree that was made enormous before.

mod event;
mod model;
pub mod net_error;
mod observer;
mod reducer;
mod watch;

pub use event::{History, Mark, StateEvent};
pub use model::{Known, LastGood, PageError, PageState, TITLE_LIMIT, URL_LIMIT};
pub use observer::Report;
pub use reducer::{Effects, Reducer};
pub use watch::{Watching, set_up};
