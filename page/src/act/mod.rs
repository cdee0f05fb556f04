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
//! | `keys`, `chord`, `keyboard` | the keys of a keyboard, reading `Control+Shift+T`, pressing them |
//! | `field`, `field.js` | what kind of field it is, and what became of text in it |
//! | `type_text`, `text_plan` | entering text, and what its newlines mean |
//! | `press`, `select`, `check`, `upload`, `fill` | the other ways to fill a form |
//! | `highlight` | showing a person which element is meant |
//! | `files`, `transfer`, `chooser` | files, their bytes, and what a page opens to be given some |
//! | `save_document` | having the browser download what it shows |
//! | `input_seen` | what the page saw of them |
//! | `outcome`, `error` | what became of it |

mod aim;
mod check;
mod chooser;
mod chord;
mod click;
mod drag;
mod error;
mod field;
mod files;
mod fill;
mod frames;
mod heard;
mod highlight;
mod hover;
mod input_seen;
mod keyboard;
mod keys;
mod modifiers;
mod mouse;
mod navigation;
mod node;
mod outcome;
mod page;
mod press;
mod ready;
mod resize;
mod save_document;
mod scroll;
mod select;
mod sending;
mod target;
mod text_plan;
mod transfer;
mod type_text;
mod upload;

pub use check::check;
pub use chooser::{Chooser, Turns, upload_by_click};
pub use chord::{BadKey, Chord, Modifier};
pub use click::{Click, click, click_by_events};
pub use drag::drag;
pub use error::ActError;
pub use field::{FieldAfterEnter, FieldKind};
pub use files::{Files, LocalFile};
pub use fill::{FieldSeen, FillField, fill};
pub use highlight::highlight;
pub use hover::hover;
pub use input_seen::{ChoiceSeen, FileSeen, InputSeen, KeySeen, TextSeen};
pub use keys::Key;
pub use modifiers::Modifiers;
pub use mouse::Button;
pub use node::Node;
pub use outcome::{Effect, Navigation, NavigationState, Observed, Outcome, PointerSeen, Route, StateAfter};
pub use page::ActPage;
pub use press::{Press, insert_text, press};
pub use ready::{Facts, Need, Ready, make_ready};
pub use resize::{Viewport, resize};
pub use save_document::save_document;
pub use scroll::{Scroll, scroll, scroll_into_view};
pub use select::{OptionName, Select, select};
pub use target::{Element, Place, Point, Target};
pub use text_plan::TypeMode;
pub use type_text::{TypeText, type_text};
pub use upload::upload;
