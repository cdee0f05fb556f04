//! Starting Chromium, and leaving nothing of it behind.
//!
//! [`launch`](launch()) starts one and waits for its DevTools port; the [`Chromium`] that it gives ends with
//! its value. What a service that was killed could not end, [`reap`](reap()) ends at the next start.
//!
//! | file | holds |
//! |---|---|
//! | `options`, `error`, `exit` | what callers choose and read |
//! | `find`, `machine`, `flags` | the executable, the facts, and the command line made of them |
//! | `home`, `lease`, `singleton`, `port` | a launch on disk: lease, profile, Chromium's lock, its port |
//! | `process`, `words`, `body`, `chromium` | a launch in memory, and its end |
//! | `proc`, `family`, `end`, `reap`, `renderer` | which processes are ours, on what proof, and ending them |
//! | `facts` | what a doctor wants to know |

mod body;
mod chromium;
mod end;
mod error;
mod exit;
mod facts;
mod family;
mod find;
mod flags;
mod home;
mod lease;
mod machine;
mod options;
mod port;
mod proc;
mod process;
mod reap;
mod renderer;
mod singleton;
mod usage;
mod words;

use std::time::Duration;

pub use chromium::{Chromium, Stopped};
pub use end::adopt_orphans;
pub use error::LaunchError;
pub use exit::Exit;
pub use facts::{Facts, facts};
pub use find::find_chromium;
pub use options::{LaunchOptions, Profile};
pub use reap::{Reaped, reap};
pub use renderer::{kill_renderer, stopped_renderers};
pub use usage::{Usage, usage};

use self::body::Body;
use self::home::Home;
use self::machine::Machine;
use crate::budget::{Budget, Spent};

/// Launches Chromium and waits until it can be talked to.
///
/// Nothing is left of a launch that fails, that runs out of its budget, or whose future is dropped.
///
/// # Errors
/// [`LaunchError`], whose text names what to change.
pub async fn launch(options: &LaunchOptions, budget: &Budget) -> Result<Chromium, LaunchError> {
    let machine = Machine::look();
    flags::check(options, &machine)?;
    let executable = find_chromium(options.executable.as_deref())?;
    // A browser that never opens its port must be gone by the end of the budget.
    let work = budget.reserving(reserve(budget.total()));
    let launched = async {
        let home = Home::prepare(&options.state_dir, &options.profile, &work).await?;
        let profile = home.profile().to_string_lossy();
        let arguments = flags::arguments(options, &machine, &profile, home.id());
        let body = Body::start(&executable, &arguments, home)?;
        let address = body.listening(&work).await?;
        Ok(Chromium::new(body, executable, address, options.stop_grace))
    };
    let launched = launched.await.map_err(|why| on_the_whole(why, budget));
    if let Ok(chromium) = &launched {
        tracing::debug!(pid = chromium.pid(), took = ?budget.elapsed(), "chromium launched");
    }
    launched
}

/// Killing a browser and removing its profile take some 50 ms on a quiet machine.
fn reserve(total: Duration) -> Duration {
    (total / 10).min(Duration::from_millis(200))
}

/// The caller's budget is what an error tells of, not what was held back of it.
fn on_the_whole(why: LaunchError, budget: &Budget) -> LaunchError {
    match why {
        LaunchError::Spent { spent: Spent::Expired { .. }, last_words } => {
            let spent = Spent::Expired { total: budget.total(), elapsed: budget.elapsed() };
            LaunchError::Spent { spent, last_words }
        }
        other => other,
    }
}
