//! What can be done on a page over a CDP link, without actors.
//!
//! | module | holds |
//! |---|---|
//! | [`act`] | actions, and what the page saw of them |
//! | [`evaluate`] | one script, one answer: markers, phases, honest expiry |
//! | [`navigate`] | navigation that is not success until the document commits |
//! | [`state`] | what a tab shows: url, title, favicon, loading, error, history |
//! | [`observe`] | what a page says: console, errors, requests, responses |
//! | [`emulation`] | what a page is made to believe |
//! | [`cookies`], [`permissions`] | of a browser context |
//! | [`content`] | storage and text of a page |
//! | [`dialog`] | JavaScript dialogs: which is open, which id names it |
//! | [`snapshot`] | a page as text, from Chromium's accessibility tree |
//! | [`pdf`] | a page as a PDF |
//! | [`screenshot`] | images of a page, with elements named on them |
//! | [`frame_sessions`] | sessions on frames that live in processes of their own |
//! | [`recover`] | what brings a stuck page back |
//! | [`refs`] | names for elements that never lie |
//! | [`wait`] | waiting until a page shows something, has an address, is loaded or quiet |
//! | [`condition`] | what makes every call on a tab answer at once: a dialog, a crash |
//! | [`clock`] | the page's clock against ours |
//!
//! Decisions are plain values (`on(event) -> effects`), the functions that talk to Chromium are
//! thin and are driven by an actor of the crate above.

pub mod act;
pub mod clock;
pub mod condition;
pub mod content;
pub mod cookies;
pub mod dialog;
pub mod emulation;
pub mod evaluate;
pub mod frame_sessions;
mod isolated;
pub mod navigate;
pub mod observe;
pub mod pdf;
pub mod permissions;
pub mod recover;
pub mod refs;
pub mod screenshot;
pub mod snapshot;
pub mod state;
pub mod wait;
