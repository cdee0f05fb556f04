//! `GET /events`: what happens to tabs and browsers, as server-sent events.
//!
//! An event is told by its name, with its number as id and its JSON as data. A reader that is slow loses the
//! oldest ones and is told `lagged {missed}`; the numbers go on, so that one that comes back can tell as well.
//! A stream ends when the service stops.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tabvisor_actors::events::{Item, Subscription};
use tokio::sync::OwnedSemaphorePermit;

use super::call::Look;
use super::error::ApiError;
use super::service::Service;

/// How often a quiet stream says that it is still there; proxies close those that never do.
const STILL_HERE: Duration = Duration::from_secs(15);
/// When to ask again for a place.
const RETRY: Duration = Duration::from_secs(5);

struct Reader {
    events: Subscription,
    service: Service,
    _place: OwnedSemaphorePermit,
}

/// From now on, of all browsers.
pub(super) async fn events(mut look: Look) -> Result<Response, ApiError> {
    if look.service.is_stopping() {
        return Err(ApiError::stopping());
    }
    look.profile()?;
    let service = look.service;
    let Ok(place) = service.streams().clone().try_acquire_owned() else {
        let max = service.config().server.event_streams;
        metrics::counter!("tabvisor_rejected_total", "reason" => "overloaded").increment(1);
        let error = format!(
            "overloaded: {max} streams of events are open, which is the limit (server.event_streams)"
        );
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, error)
            .reason("overloaded")
            .detail("limit", "server.event_streams")
            .detail("max", max)
            .retry_after(RETRY));
    };
    // Before the answer: whoever has its head misses nothing that happens then.
    let reader = Reader { events: service.supervisor().subscribe(), service, _place: place };
    let events = stream::unfold(reader, async |mut reader| {
        let next = tokio::select! {
            biased;
            () = reader.service.stopping() => None,
            next = reader.events.next() => next,
        };
        Some((Ok::<_, Infallible>(event(&next?)), reader))
    });
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(STILL_HERE).text("still here"));
    // One that keeps it to itself until it is full would keep it for ever.
    let head = [(CACHE_CONTROL, "no-store"), (HeaderName::from_static("x-accel-buffering"), "no")];
    Ok((head, stream).into_response())
}

fn event(item: &Item) -> Event {
    let (event, name) = match item {
        Item::Event(numbered) => (Event::default().id(numbered.seq.to_string()), numbered.event.name()),
        Item::Lagged { .. } => (Event::default(), "lagged"),
    };
    // JSON has no line breaks; what has no JSON form is told by its name.
    event.event(name).data(serde_json::to_string(item).unwrap_or_default())
}
