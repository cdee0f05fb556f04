//! Which rung comes when. Pure.
//!
//! ```text
//!   Begin --> the first rung that can help --page answers--> Freed
//!                  |          ^
//!                  +--not-----+--none left: NothingHelped; no time: OutOfTime;
//!                                another document: DocumentChanged
//! ```
//!
//! A rung that cannot help is passed over: there is no dialog to answer, no navigation to stop, and
//! a page that serves no interrupts has no script that could be ended (measured: both hold in exactly
//! the same states).

use std::time::Duration;

use tokio::time::Instant;

use super::{GaveUp, Rung};

/// What is known of a page between two rungs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is known by itself")]
pub(crate) struct Facts {
    /// A dialog is open, and can be answered.
    pub(crate) dialog: bool,
    /// It serves interrupts, so that scripts can be ended on it.
    pub(crate) interruptible: bool,
    /// Something is being loaded.
    pub(crate) loading: bool,
    /// The renderer is dead.
    pub(crate) crashed: bool,
    /// Which document it shows.
    pub(crate) generation: u64,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The page was looked at.
    Begin(Facts),
    /// The rung at work is done. `ours`: it changed the document itself.
    Done { freed: bool, ours: bool, facts: Facts },
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Try this rung, no longer than that.
    Climb { rung: Rung, within: Duration },
    /// The page is usable, by this rung.
    Freed(Rung),
    /// It is not.
    GaveUp(GaveUp),
}

/// One recovery.
#[derive(Debug)]
pub(crate) struct Ladder {
    first: Rung,
    last: Rung,
    /// The first rung was asked for by name: it is tried whatever is known.
    named: bool,
    deadline: Instant,
    generation: u64,
    at: Option<Rung>,
    tried: Vec<Rung>,
}

impl Ladder {
    /// From `first` to `last` rung; `named` if the first one was asked for.
    pub(crate) fn new(first: Rung, last: Rung, named: bool, deadline: Instant) -> Self {
        Self { first, last, named, deadline, generation: 0, at: None, tried: Vec::new() }
    }

    /// The rungs that were tried so far.
    pub(crate) fn tried(&self) -> &[Rung] {
        &self.tried
    }

    /// Takes what happened and says what to do.
    pub(crate) fn on(&mut self, event: Event, now: Instant) -> Effect {
        let facts = match event {
            Event::Begin(facts) => {
                self.generation = facts.generation;
                facts
            }
            Event::Done { freed, ours, facts } => {
                if let (true, Some(rung)) = (freed, self.at) {
                    return Effect::Freed(rung);
                }
                if ours {
                    self.generation = facts.generation;
                }
                facts
            }
        };
        if facts.generation != self.generation {
            return Effect::GaveUp(GaveUp::DocumentChanged);
        }
        let left = self.deadline.saturating_duration_since(now);
        if left.is_zero() {
            return Effect::GaveUp(GaveUp::OutOfTime);
        }
        let Some(rung) = self.next(facts) else { return Effect::GaveUp(GaveUp::NothingHelped) };
        let within = left * weight(rung) / self.weight_from(rung);
        self.at = Some(rung);
        self.tried.push(rung);
        Effect::Climb { rung, within }
    }

    fn next(&self, facts: Facts) -> Option<Rung> {
        let open =
            |rung: &Rung| self.at.is_none_or(|at| *rung > at) && (self.first..=self.last).contains(rung);
        let wanted = |rung: &Rung| self.named && *rung == self.first && self.at.is_none();
        Rung::ALL.into_iter().filter(open).find(|rung| wanted(rung) || can_help(*rung, facts))
    }

    /// The weights of `rung` and of all that may come after it.
    fn weight_from(&self, rung: Rung) -> u32 {
        Rung::ALL.into_iter().filter(|it| (rung..=self.last).contains(it)).map(weight).sum()
    }
}

fn can_help(rung: Rung, facts: Facts) -> bool {
    match rung {
        Rung::Dialog => facts.dialog && !facts.crashed,
        Rung::Terminate => facts.interruptible && !facts.crashed,
        Rung::StopLoading => facts.loading && !facts.crashed,
        Rung::Renderer | Rung::Target | Rung::Browser => true,
    }
}

/// How large a share of the time a rung gets. A document has to come over the network for the last two.
fn weight(rung: Rung) -> u32 {
    match rung {
        Rung::Dialog | Rung::StopLoading => 1,
        Rung::Terminate => 2,
        Rung::Renderer | Rung::Target | Rung::Browser => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn now() -> Instant {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async { Instant::now() })
    }

    fn ladder(at: Instant) -> Ladder {
        Ladder::new(Rung::Dialog, Rung::Target, false, at + Duration::from_secs(16))
    }

    fn climbs(effect: Effect) -> Rung {
        match effect {
            Effect::Climb { rung, .. } => rung,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rungs_that_cannot_help_are_passed_over() {
        let at = now();
        for (facts, first) in [
            (Facts { interruptible: true, ..Facts::default() }, Rung::Terminate),
            (Facts { dialog: true, ..Facts::default() }, Rung::Dialog),
            (Facts { loading: true, ..Facts::default() }, Rung::StopLoading),
            (Facts { interruptible: true, loading: true, ..Facts::default() }, Rung::Terminate),
            (Facts { crashed: true, dialog: true, loading: true, ..Facts::default() }, Rung::Renderer),
            (Facts::default(), Rung::Renderer),
        ] {
            assert_eq!(climbs(ladder(at).on(Event::Begin(facts), at)), first, "{facts:?}");
        }
    }

    #[test]
    fn it_climbs_until_the_page_answers_and_says_by_which_rung() {
        let at = now();
        let facts = Facts { interruptible: true, ..Facts::default() };
        let mut ladder = ladder(at);
        assert_eq!(climbs(ladder.on(Event::Begin(facts), at)), Rung::Terminate);
        assert_eq!(climbs(ladder.on(Event::Done { freed: false, ours: false, facts }, at)), Rung::Renderer);
        let freed = Event::Done { freed: true, ours: true, facts: Facts { generation: 1, ..facts } };
        assert_eq!(ladder.on(freed, at), Effect::Freed(Rung::Renderer));
        assert_eq!(ladder.tried(), [Rung::Terminate, Rung::Renderer]);
    }

    #[test]
    fn a_later_document_is_left_alone_unless_the_rung_brought_it() {
        let at = now();
        let facts = Facts { interruptible: true, ..Facts::default() };
        let later = Facts { generation: 1, ..facts };
        let mut guarded = ladder(at);
        guarded.on(Event::Begin(facts), at);
        let done = guarded.on(Event::Done { freed: false, ours: false, facts: later }, at);
        assert_eq!(done, Effect::GaveUp(GaveUp::DocumentChanged));
        let mut ours = ladder(at);
        ours.on(Event::Begin(Facts::default()), at);
        let done = ours.on(Event::Done { freed: false, ours: true, facts: later }, at);
        assert_eq!(climbs(done), Rung::Target);
    }

    #[test]
    fn a_rung_that_was_asked_for_is_tried_and_nothing_beyond_the_last() {
        let at = now();
        let mut alone = Ladder::new(Rung::Terminate, Rung::Terminate, true, at + Duration::from_secs(1));
        let within = Duration::from_secs(1);
        assert_eq!(
            alone.on(Event::Begin(Facts::default()), at),
            Effect::Climb { rung: Rung::Terminate, within }
        );
        let done = Event::Done { freed: false, ours: false, facts: Facts::default() };
        assert_eq!(alone.on(done, at), Effect::GaveUp(GaveUp::NothingHelped));
    }

    fn facts() -> impl Strategy<Value = Facts> {
        (any::<[bool; 4]>(), 0u64..3).prop_map(|([dialog, interruptible, loading, crashed], generation)| {
            Facts { dialog, interruptible, loading, crashed, generation }
        })
    }

    proptest! {
        #[test]
        fn each_rung_is_tried_at_most_once_in_order_inside_the_time(
            begin in facts(),
            steps in prop::collection::vec((facts(), any::<bool>(), any::<bool>(), 0u64..4_000), 0..10),
            first in 0usize..5, last in 0usize..5, named in any::<bool>(),
        ) {
            let start = now();
            let (first, last) = (Rung::ALL[first.min(last)], Rung::ALL[first.max(last)]);
            let deadline = start + Duration::from_secs(8);
            let mut ladder = Ladder::new(first, last, named, deadline);
            let (mut at, mut expected) = (start, begin.generation);
            let mut effect = ladder.on(Event::Begin(begin), at);
            let mut steps = steps.into_iter();
            while let Effect::Climb { rung, within } = effect {
                prop_assert!((first..=last).contains(&rung));
                prop_assert!(at + within <= deadline);
                let Some((facts, freed, ours, took)) = steps.next() else { break };
                at += Duration::from_millis(took);
                effect = ladder.on(Event::Done { freed, ours, facts }, at);
                if freed {
                    prop_assert_eq!(effect, Effect::Freed(rung));
                } else {
                    if ours { expected = facts.generation; }
                    if facts.generation != expected {
                        prop_assert_eq!(effect, Effect::GaveUp(GaveUp::DocumentChanged));
                    }
                }
            }
            prop_assert!(ladder.tried().is_sorted());
            prop_assert!(ladder.tried().windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}
