//! Events to bounded subscribers. A slow one loses events and is told how many.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::value::RawValue;
use tokio::sync::mpsc;

/// One CDP event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its session; `None` for the root of the link.
    pub session: Option<Arc<str>>,
    /// For example `Page.frameNavigated`.
    pub method: Arc<str>,
    /// Its parameters, unparsed.
    pub params: Box<RawValue>,
}

/// What a subscriber receives.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// An event.
    Event(Event),
    /// Events were dropped here because the subscriber was slow; state built from events must be
    /// read afresh.
    Lagged {
        /// How many.
        missed: u64,
    },
}

/// Whose events a subscription takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The root of the link or one session.
    Session(Option<Arc<str>>),
    /// Every session of the link.
    All,
}

/// A bounded stream of events. It ends (`None`) when the link is gone.
#[derive(Debug)]
pub struct Events {
    deliveries: mpsc::Receiver<Delivery>,
    missed: Arc<AtomicU64>,
}

impl Events {
    /// The next delivery; `None` once the link is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<Delivery> {
        match self.try_next() {
            Some(delivery) => Some(delivery),
            None => self.deliveries.recv().await,
        }
    }

    /// A delivery that is there already.
    pub fn try_next(&mut self) -> Option<Delivery> {
        self.deliveries.try_recv().ok().or_else(|| {
            // Nothing may ever come behind what was lost, so its loss is told without.
            let missed = self.missed.swap(0, Ordering::Relaxed);
            (missed > 0).then_some(Delivery::Lagged { missed })
        })
    }
}

struct Subscriber {
    scope: Scope,
    methods: &'static [&'static str],
    deliveries: mpsc::Sender<Delivery>,
    missed: Arc<AtomicU64>,
}

/// All subscribers of a link.
#[derive(Default)]
pub(super) struct Subscribers {
    list: Vec<Subscriber>,
}

impl Subscribers {
    /// Adds one that takes `methods`, at most `capacity` of them waiting.
    pub(super) fn add(&mut self, scope: Scope, methods: &'static [&'static str], capacity: usize) -> Events {
        let (sender, deliveries) = mpsc::channel(capacity.max(1));
        let missed = Arc::<AtomicU64>::default();
        self.list.push(Subscriber { scope, methods, deliveries: sender, missed: Arc::clone(&missed) });
        Events { deliveries, missed }
    }

    /// Hands an event to whoever asked for it; returns how many deliveries were dropped.
    pub(super) fn publish(&mut self, session: Option<&str>, method: &str, params: &RawValue) -> u64 {
        let mut dropped = 0;
        self.list.retain_mut(|subscriber| {
            let wanted = subscriber.methods.contains(&method)
                && match &subscriber.scope {
                    Scope::All => true,
                    Scope::Session(id) => id.as_deref() == session,
                };
            if !wanted {
                return !subscriber.deliveries.is_closed();
            }
            let event = Event {
                session: session.map(Arc::from),
                method: Arc::from(method),
                params: params.to_owned(),
            };
            match subscriber.deliver(event) {
                Ok(lost) => {
                    dropped += lost;
                    true
                }
                Err(Gone) => false,
            }
        });
        dropped
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }
}

struct Gone;

impl Subscriber {
    fn deliver(&mut self, event: Event) -> Result<u64, Gone> {
        use mpsc::error::TrySendError;
        if self.missed.load(Ordering::Relaxed) > 0 {
            match self.deliveries.try_reserve() {
                Ok(slot) => {
                    // The subscriber may have taken the number meanwhile.
                    let missed = self.missed.swap(0, Ordering::Relaxed);
                    if missed > 0 {
                        slot.send(Delivery::Lagged { missed });
                    }
                }
                Err(TrySendError::Closed(())) => return Err(Gone),
                Err(TrySendError::Full(())) => return Ok(self.lose()),
            }
        }
        match self.deliveries.try_send(Delivery::Event(event)) {
            Ok(()) => Ok(0),
            Err(TrySendError::Closed(_)) => Err(Gone),
            Err(TrySendError::Full(_)) => Ok(self.lose()),
        }
    }

    fn lose(&self) -> u64 {
        self.missed.fetch_add(1, Ordering::Relaxed);
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(subscribers: &mut Subscribers, session: Option<&str>, method: &str) -> u64 {
        subscribers.publish(session, method, RawValue::NULL)
    }

    fn drain(events: &mut Events) -> Vec<String> {
        std::iter::from_fn(|| events.deliveries.try_recv().ok())
            .map(|delivery| match delivery {
                Delivery::Event(event) => event.method.to_string(),
                Delivery::Lagged { missed } => format!("lagged {missed}"),
            })
            .collect()
    }

    #[test]
    fn a_subscriber_hears_only_what_it_asked_for() {
        let mut subscribers = Subscribers::default();
        let mut mine = subscribers.add(Scope::Session(Some("S".into())), &["A"], 8);
        let mut all = subscribers.add(Scope::All, &["A", "B"], 8);
        publish(&mut subscribers, Some("S"), "A");
        publish(&mut subscribers, Some("S"), "B");
        publish(&mut subscribers, None, "A");
        assert_eq!(drain(&mut mine), ["A"]);
        assert_eq!(drain(&mut all), ["A", "B", "A"]);
    }

    #[test]
    fn a_slow_subscriber_is_told_how_many_it_missed() {
        let mut subscribers = Subscribers::default();
        let mut slow = subscribers.add(Scope::All, &["A", "B"], 2);
        let dropped: u64 = (0..5).map(|_| publish(&mut subscribers, None, "A")).sum();
        assert_eq!(dropped, 3);
        assert_eq!(drain(&mut slow), ["A", "A"]);
        publish(&mut subscribers, None, "B");
        assert_eq!(drain(&mut slow), ["lagged 3", "B"]);
    }

    #[test]
    fn one_that_went_away_is_forgotten() {
        let mut subscribers = Subscribers::default();
        drop(subscribers.add(Scope::All, &["A"], 1));
        publish(&mut subscribers, None, "other");
        assert!(subscribers.list.is_empty());
    }
}
