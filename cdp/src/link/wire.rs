//! What a CDP message looks like on the wire. Pure: text in, values out.
//!
//! Results and event parameters stay raw JSON (`RawValue`): they are sliced out of the frame, not
//! parsed and rendered again. That also keeps lone surrogates, which a strict parser would refuse.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message from Chromium, borrowed from its frame.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// The answer to command `id`.
    Reply { id: u64, outcome: Result<Cow<'a, RawValue>, ProtocolError> },
    /// An event, of the session named or of the link's root.
    Event { session: Option<Cow<'a, str>>, method: Cow<'a, str>, params: Cow<'a, RawValue> },
}

/// Chromium's refusal of one command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct ProtocolError {
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<ProtocolError>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
}

/// Reads one text frame; `None` for what is no CDP message.
pub(super) fn read(text: &str) -> Option<Incoming<'_>> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    let empty = || Cow::Owned(RawValue::NULL.to_owned());
    match (envelope.id, envelope.method) {
        (Some(id), _) => {
            let outcome = match (envelope.result, envelope.error) {
                (_, Some(error)) => Err(error),
                (result, None) => Ok(result.map_or_else(empty, Cow::Borrowed)),
            };
            Some(Incoming::Reply { id, outcome })
        }
        (None, Some(method)) => Some(Incoming::Event {
            session: envelope.session_id,
            method,
            params: envelope.params.map_or_else(empty, Cow::Borrowed),
        }),
        (None, None) => None,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Command<'a, P> {
    id: u64,
    method: &'a str,
    params: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

/// Renders one command.
pub(super) fn write<P: Serialize>(
    id: u64,
    session: Option<&str>,
    method: &str,
    params: P,
) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Command { id, method, params, session_id: session })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_result_is_kept_byte_for_byte() {
        let text = r#"{"id":3,"result":{"value":"\ud800", "n" : 1.50}}"#;
        let Some(Incoming::Reply { id: 3, outcome: Ok(raw) }) = read(text) else { panic!("{text}") };
        assert_eq!(raw.get(), r#"{"value":"\ud800", "n" : 1.50}"#);
    }

    #[test]
    fn refusals_and_events_are_told_apart() {
        let Some(Incoming::Reply { outcome: Err(error), .. }) =
            read(r#"{"id":1,"error":{"code":-32000,"message":"no"}}"#)
        else {
            panic!()
        };
        assert_eq!(error, ProtocolError { code: -32000, message: "no".into() });
        let Some(Incoming::Event { session, method, .. }) =
            read(r#"{"method":"Page.loadEventFired","params":{},"sessionId":"S","new":[1]}"#)
        else {
            panic!()
        };
        assert_eq!((session.as_deref(), method.as_ref()), (Some("S"), "Page.loadEventFired"));
    }

    #[test]
    fn a_command_names_its_session_only_when_it_has_one() {
        assert_eq!(write(1, None, "A.b", ()).unwrap(), r#"{"id":1,"method":"A.b","params":null}"#);
        assert!(write(1, Some("S"), "A.b", ()).unwrap().ends_with(r#""sessionId":"S"}"#));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC*") { let _ = read(&text); }

        #[test]
        fn what_is_no_message_is_none(id in "[a-z]{1,8}") {
            let text = format!(r#"{{"id":"{id}","result":{{}}}}"#);
            prop_assert!(read(&text).is_none());
        }
    }
}
