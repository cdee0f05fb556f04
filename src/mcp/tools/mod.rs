//! What each tool does.
//!
//! | file | holds |
//! |---|---|
//! | `prepare`, `tabs`, `navigate` | the browser, its tabs, where they go |
//! | `state`, `pictures`, `observe` | what a page shows, and says |
//! | `pointer`, `keyboard`, `forms`, `files`, `dialog` | what a user does |
//! | `acted` | telling what the page saw of it |
//! | `wait`, `evaluate`, `steps` | waiting, scripts, several in one call |

mod acted;
mod dialog;
mod evaluate;
mod files;
mod forms;
mod keyboard;
mod navigate;
mod observe;
mod pictures;
mod pointer;
mod prepare;
mod state;
mod steps;
mod tabs;
mod wait;

use std::pin::Pin;

use tabvisor_actors::StepKind;

use super::args::Args;
use super::call::Outcome;
use super::catalog::Spec;
use super::envelope::Told;

/// What a tool gives in the end.
pub(super) type Answer = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Reads what arguments ask for, as one of several steps.
pub(super) type Read = fn(&Args) -> Result<StepKind, Box<Told>>;

/// All tools.
pub(super) const ALL: &[&[Spec]] = &[
    prepare::TOOLS,
    tabs::TOOLS,
    navigate::TOOLS,
    state::TOOLS,
    pointer::TOOLS,
    keyboard::TOOLS,
    forms::TOOLS,
    dialog::TOOLS,
    files::TOOLS,
    wait::TOOLS,
    evaluate::TOOLS,
    pictures::TOOLS,
    observe::TOOLS,
    steps::TOOLS,
];
