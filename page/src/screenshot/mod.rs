//! Screenshots, and names of elements drawn onto them.
//!
//! [`capture`](capture()) asks Chromium for an image within the limits of [`limits`]; [`boxes`](boxes()) says where many
//! elements are, in two or three rounds of commands; [`capture_labelled`] joins both and draws with
//! [`annotate`](annotate()), on the image and never in the page.
//!
//! Chromium changes the emulation of a page while it takes a shot of a part of it, so two shots of
//! one tab must not overlap: the caller takes them in turn.
//!
//! | file | holds |
//! |---|---|
//! | `request`, `shot`, `error` | what a caller asks for and gets |
//! | `capture`, `frames_wanted` | taking the image, and making Chromium render a page that nobody sees |
//! | `metrics` | the viewport; which part of a page an image is to show, and how large |
//! | `encode` | from Chromium's reply to bytes within the limits |
//! | `boxes`, `layout`, `owners` | where elements are: the rounds, one process's layout, where frames hang |
//! | `geometry` | rectangles, and a frame's coordinates in another's |
//! | `annotate`, `placing`, `glyphs` | drawing rectangles and labels |
//! | `labelled` | a shot with labels, as callers get it |

mod annotate;
mod boxes;
mod capture;
mod encode;
mod error;
mod frames_wanted;
mod geometry;
mod glyphs;
mod labelled;
mod layout;
pub mod limits;
mod metrics;
mod owners;
mod placing;
mod request;
mod shot;

pub use annotate::{Annotated, Annotation, Mark, annotate};
pub use boxes::{Measured, Spot, Where, boxes};
pub use capture::capture;
pub use error::ShotError;
pub use geometry::Rect;
pub use labelled::{Element, Labelled, capture_labelled};
pub use request::{Format, Options, Page, What};
pub use shot::Shot;
