//! How often something may be restarted. Pure.
//!
//! The vocabulary is OTP's: an intensity of `max` restarts within `window`; one more escalates.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// At most `max` restarts within `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intensity {
    /// How many.
    pub max: usize,
    /// Within how long.
    pub window: Duration,
    /// The pause before the second restart of a window; it doubles from then on. The first comes
    /// at once.
    pub pause: Duration,
}

impl Intensity {
    /// A tab's actors: 5 in 30 s, then the tab is lost.
    pub const TAB: Self = Self { max: 5, window: Duration::from_secs(30), pause: Duration::from_millis(100) };
    /// Recoveries of a tab that nobody asked for: 3 in 5 minutes, then the tab is lost. One that
    /// gets stuck whenever it is loaded is not loaded for ever.
    pub const RECOVERY: Self = Self { max: 3, window: Duration::from_mins(5), pause: Duration::from_secs(1) };
    /// Browsers that we launch: 3 in 60 s, then the supervisor gives up.
    pub const BROWSER: Self =
        Self { max: 3, window: Duration::from_mins(1), pause: Duration::from_millis(500) };
    /// Browsers that we attach to: their own supervisor may need half a minute to bring them back.
    pub const ENDPOINT: Self =
        Self { max: 10, window: Duration::from_mins(1), pause: Duration::from_millis(250) };
}

/// What to do after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Restart, after this pause.
    Restart {
        /// Zero for the first restart of a window, then doubling.
        after: Duration,
    },
    /// The window is full.
    Escalate,
}

/// The restarts of one child within its window.
#[derive(Clone, Debug)]
pub struct RestartWindow {
    intensity: Intensity,
    times: VecDeque<Instant>,
}

/// Longest pause of the back-off.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl RestartWindow {
    /// An empty window.
    pub fn new(intensity: Intensity) -> Self {
        Self { intensity, times: VecDeque::new() }
    }

    /// Records a failure at `now` and says what to do.
    pub fn record(&mut self, now: Instant) -> Verdict {
        self.forget_before(now);
        if self.times.len() >= self.intensity.max {
            return Verdict::Escalate;
        }
        let earlier = u32::try_from(self.times.len()).unwrap_or(u32::MAX);
        self.times.push_back(now);
        let after = match earlier {
            0 => Duration::ZERO,
            n => self.intensity.pause.saturating_mul(1 << (n - 1).min(16)).min(LONGEST_PAUSE),
        };
        Verdict::Restart { after }
    }

    /// Restarts still in the window at `now`.
    pub fn count(&mut self, now: Instant) -> usize {
        self.forget_before(now);
        self.times.len()
    }

    /// How often it may be restarted.
    pub fn intensity(&self) -> Intensity {
        self.intensity
    }

    fn forget_before(&mut self, now: Instant) {
        while self.times.front().is_some_and(|t| now.saturating_duration_since(*t) >= self.intensity.window) {
            self.times.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[tokio::test(start_paused = true)]
    async fn it_escalates_when_full_and_forgives_with_time() {
        let mut window = RestartWindow::new(Intensity {
            max: 2,
            window: Duration::from_secs(10),
            pause: Duration::from_millis(100),
        });
        let now = Instant::now();
        assert_eq!(window.record(now), Verdict::Restart { after: Duration::ZERO });
        assert_eq!(window.record(now), Verdict::Restart { after: Duration::from_millis(100) });
        assert_eq!(window.record(now), Verdict::Escalate);
        let later = now + Duration::from_secs(10);
        assert_eq!(window.record(later), Verdict::Restart { after: Duration::ZERO });
    }

    proptest! {
        #[test]
        fn no_stretch_of_time_sees_more_than_the_intensity(gaps in prop::collection::vec(0u64..4_000, 1..60)) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            let mut now = runtime.block_on(async { Instant::now() });
            let intensity = Intensity { max: 3, window: Duration::from_secs(5), pause: Duration::from_millis(100) };
            let mut window = RestartWindow::new(intensity);
            let mut restarts: Vec<Instant> = Vec::new();
            for gap in gaps {
                now += Duration::from_millis(gap);
                if let Verdict::Restart { after } = window.record(now) {
                    prop_assert!(after <= LONGEST_PAUSE);
                    restarts.push(now);
                }
                let recent = restarts.iter().filter(|t| now - **t < intensity.window).count();
                prop_assert!(recent <= intensity.max);
            }
        }
    }
}
