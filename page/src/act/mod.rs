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
//! | `node` | an element as an object in a world of our own |
//! | `ready`, `ready.js` | proof, scrolling, stillness, hit test |
//! | `outcome`, `error` | what became of it |
//! | `element.js` | what every function of ours knows of elements |

mod error;
mod node;
mod outcome;
mod page;
mod ready;
mod target;

pub use error::ActError;
pub use node::Node;
pub use outcome::{Effect, Navigation, NavigationState, Observed, Outcome, PointerSeen, Route, StateAfter};
pub use page::ActPage;
pub use ready::{Facts, Need, Ready, make_ready};
pub use target::{Element, Place, Point, Target};
