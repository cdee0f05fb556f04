//! Events to bounded subscribers. A slow one loses events and is told how many.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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

/// How many bytes of parameters may wait for one subscriber. A page decides how large its events
/// are; one larger than this still comes through where nothing else waits.
const MOST_BYTES: usize = 16 << 20;

/// A bounded stream of events. It ends (`None`) when the link is gone.
#[derive(Debug)]
pub struct Events {
    deliveries: mpsc::Receiver<Delivery>,
    missed: Arc<AtomicU64>,
    /// Bytes of parameters that wait.
    waiting: Arc<AtomicUsize>,
}

impl Events {
    /// The next delivery; `None` once the link is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<Delivery> {
        if let Some(delivery) = self.try_next() {
            return Some(delivery);
        }
        let delivery = self.deliveries.recv().await;
        self.taken(delivery)
    }

    /// A delivery that is there already.
    pub fn try_next(&mut self) -> Option<Delivery> {
        let delivery = self.deliveries.try_recv().ok();
        self.taken(delivery).or_else(|| {
            // Nothing may ever come behind what was lost, so its loss is told without.
            let missed = self.missed.swap(0, Ordering::Relaxed);
            (missed > 0).then_some(Delivery::Lagged { missed })
        })
    }

    fn taken(&self, delivery: Option<Delivery>) -> Option<Delivery> {
        if let Some(Delivery::Event(event)) = &delivery {
            self.waiting.fetch_sub(event.params.get().len(), Ordering::Relaxed);
        }
        delivery
    }
}

struct Subscriber {
    scope: Scope,
    methods: &'static [&'static str],
    deliveries: mpsc::Sender<Delivery>,
    missed: Arc<AtomicU64>,
    waiting: Arc<AtomicUsize>,
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
        let waiting = Arc::<AtomicUsize>::default();
        self.list.push(Subscriber {
            scope,
            methods,
            deliveries: sender,
            missed: Arc::clone(&missed),
            waiting: Arc::clone(&waiting),
        });
        Events { deliveries, missed, waiting }
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
        // Before it is sent: the subscriber may take it at once.
        let bytes = event.params.get().len();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        let sent = if waiting > 0 && waiting + bytes > MOST_BYTES {
            Ok(self.lose())
        } else {
            match self.deliveries.try_send(Delivery::Event(event)) {
                Ok(()) => return Ok(0),
                Err(TrySendError::Closed(_)) => Err(Gone),
                Err(TrySendError::Full(_)) => Ok(self.lose()),
            }
        };
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
        sent
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
    fn what_waits_is_bounded_in_bytes_too() {
        let mut subscribers = Subscribers::default();
        let mut slow = subscribers.add(Scope::All, &["A"], 100);
        let large = RawValue::from_string(format!("\"{}\"", "x".repeat(MOST_BYTES))).unwrap();
        for round in 1..=2 {
            assert_eq!(subscribers.publish(None, "A", &large), 0, "alone it comes through, round {round}");
            assert_eq!(subscribers.publish(None, "A", &large), 1);
            assert!(matches!(slow.try_next(), Some(Delivery::Event(_))));
            assert!(matches!(slow.try_next(), Some(Delivery::Lagged { missed: 1 })));
        }
        assert_eq!(slow.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn one_that_went_away_is_forgotten() {
        let mut subscribers = Subscribers::default();
        drop(subscribers.add(Scope::All, &["A"], 1));
        publish(&mut subscribers, None, "other");
        assert!(subscribers.list.is_empty());
    }
}
