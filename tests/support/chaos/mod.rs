//! Work at random on many tabs, held against what the pages have seen.

pub mod gremlin;
pub mod left;
pub mod page;
pub mod tally;
pub mod worker;

use std::time::Duration;

use super::ms;

/// How much later than its budget an answer may be. Wide: the machine is shared, and its load is
/// of our own making.
pub const ALLOWED: Duration = ms(2_000);

/// A number from the environment.
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The numbers that make this run.
pub fn seed() -> u64 {
    setting("TABVISOR_CHAOS_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000))
}
