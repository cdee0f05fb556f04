//! Actions: what is sent to a page as a user would, and what the page saw of it.
//!
//! Every action proves first that its element is the one that was meant and can be acted on
//! ([`make_ready`]); if not, nothing is sent. Then it is sent, and every wait ends with a dialog,
//! a crash, a detach or another document. Afterwards the page is asked what it saw: "sent" is not
//! "happened".
//!
//! | file | holds |
//! |---|---|
//! | `target` | what an action is aimed at |
//! | `page` | the page it is on, and what ends every wait |
//! | `node`, `element.js` | an element as an object in a world of our own |
//! | `ready`, `ready.js` | proof, scrolling, stillness, hit test |
//! | `frames`, `hop.js` | the way from a frame up to the page |
//! | `aim` | from a place to a point where nothing is in the way |
//! | `heard`, `listen.js` | what listeners of ours heard |
//! | `navigation` | what the main frame does meanwhile |
//! | `sending` | sending, and learning what became of it |
//! | `mouse`, `modifiers` | its steps, and the keys that are held |
//! | `click`, `fire.js` | clicks: as of a user, and by events |
//! | `hover`, `drag`, `scroll` | the other actions of the pointer |
//! | `outcome`, `error` | what became of it |

mod aim;
mod click;
mod drag;
mod error;
mod frames;
mod heard;
mod hover;
mod modifiers;
mod mouse;
mod navigation;
mod node;
mod outcome;
mod page;
mod ready;
mod scroll;
mod sending;
mod target;

pub use click::{Click, click, click_by_events};
pub use drag::drag;
pub use error::ActError;
pub use hover::hover;
pub use modifiers::Modifiers;
pub use mouse::Button;
pub use node::Node;
pub use outcome::{Effect, Navigation, NavigationState, Observed, Outcome, PointerSeen, Route, StateAfter};
pub use page::ActPage;
pub use ready::{Facts, Need, Ready, make_ready};
pub use scroll::{Scroll, scroll, scroll_into_view};
pub use target::{Element, Place, Point, Target};
