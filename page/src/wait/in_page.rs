//! Conditions that only the page can tell, watched for in our own world of its document.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Events, Reply, Session};

use super::{LoadState, Wanted};
use crate::act::{ActError, ActPage, Node, Target};
use crate::isolated::{self, unless_refused};
use crate::navigate::Frame;
use crate::refs::{StaleReason, StaleRef};

const WATCHER: &str = include_str!("watcher.js");

/// How long a document that is gone may keep us from its successor, of which an event tells.
const BETWEEN: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    Held,
    Detached,
    Stopped,
}

/// Completes when `wanted` holds in the document that the page shows then.
pub(super) async fn holds(page: &ActPage, wanted: &Wanted, budget: &Budget) -> Result<(), ActError> {
    let mut documents = page.session.subscribe(&["Page.frameNavigated"], 64);
    loop {
        // What came before is what is asked now.
        while documents.try_next().is_some() {}
        let said = tokio::select! {
            biased;
            said = in_document(page, wanted, budget) => said?,
            gone = another(&mut documents) => {
                gone.ok_or_else(|| closed(page))?;
                continue;
            }
        };
        match said {
            Some(Said::Held) => return Ok(()),
            Some(Said::Detached) => {
                let name = match wanted {
                    Wanted::Visible(target) => target.name(),
                    other => other.words(),
                };
                return Err(ActError::Stale(StaleRef::new(&name, StaleReason::NodeDetached)));
            }
            // Its budget is spent, or its document is gone and the event of the next on its way.
            Some(Said::Stopped) | None => {
                let _ = budget.child(BETWEEN).run(another(&mut documents)).await;
            }
        }
    }
}

/// What the document that is shown now says; `None` if it went away.
async fn in_document(page: &ActPage, wanted: &Wanted, budget: &Budget) -> Result<Option<Said>, ActError> {
    let mut asked = match wanted {
        Wanted::Text(text) => json!({ "kind": "text", "text": text }),
        Wanted::TextGone(text) => json!({ "kind": "textGone", "text": text }),
        Wanted::Visible(Target::Css(css)) => json!({ "kind": "selector", "css": css }),
        Wanted::Visible(Target::Element(_)) => json!({ "kind": "element" }),
        Wanted::Load(LoadState::DomContentLoaded) => json!({ "kind": "parsed" }),
        other => return Err(ActError::Unreadable(format!("no page tells {}", other.words()))),
    };
    asked["left"] = budget.left_ms().into();
    let read = |raw: Result<_, CdpError>| unless_refused(raw).map_err(ActError::from);
    if let Wanted::Visible(target @ Target::Element(_)) = wanted {
        let node = Node::find(page, target, budget).await?;
        let on = json!({ "objectId": node.object_id() });
        let mut watcher = Watcher::start(node.session(), on, asked).await?;
        let Some(said) = read((&mut watcher.reply).await)? else { return Ok(None) };
        return answer(said.get(), target);
    }
    let Some(context) = read_world(page, budget).await? else { return Ok(None) };
    let on = json!({ "executionContextId": context });
    let mut watcher = Watcher::start(&page.session, on, asked).await?;
    let Some(said) = read((&mut watcher.reply).await)? else { return Ok(None) };
    match wanted {
        Wanted::Visible(target) => answer(said.get(), target),
        _ => answer(said.get(), &Target::Css(String::new())),
    }
}

async fn read_world(page: &ActPage, budget: &Budget) -> Result<Option<i64>, ActError> {
    Ok(unless_refused(isolated::world(&page.session, &page.main, budget).await)?)
}

fn answer(raw: &str, target: &Target) -> Result<Option<Said>, ActError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        result: Remote,
        exception_details: Option<Value>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Remote {
        class_name: Option<String>,
        value: Option<Value>,
    }
    let unreadable = |why: &str| ActError::Unreadable(why.chars().take(200).collect());
    let answer: Answer = serde_json::from_str(raw).map_err(|_| unreadable("no answer of a watcher"))?;
    if let Some(thrown) = answer.exception_details {
        let description = thrown["exception"]["description"].as_str().unwrap_or_default();
        let of_dom = answer.result.class_name.as_deref() == Some("DOMException")
            || thrown["exception"]["className"] == "DOMException";
        return Err(if of_dom && description.starts_with("SyntaxError") {
            ActError::BadSelector(target.name())
        } else {
            unreadable(description)
        });
    }
    let said = answer.result.value.map(|value| value["said"].clone()).unwrap_or_default();
    serde_json::from_value(said).map(Some).map_err(|_| unreadable("no word of a watcher"))
}

/// Completes when the main frame shows another document; `None` once the link is gone.
async fn another(documents: &mut Events) -> Option<()> {
    loop {
        match documents.next().await? {
            Delivery::Event(event) if Frame::main(&event).is_none() => {}
            Delivery::Event(_) | Delivery::Lagged { .. } => return Some(()),
        }
    }
}

fn closed(page: &ActPage) -> ActError {
    // Whoever waits for an answer of it hears why.
    let gone = if page.session.is_link_closed() { "its link closed" } else { "its events ended" };
    ActError::Link { error: CdpError::Detached { reason: gone.into() }, sent: false }
}

/// A watcher at work in a document; dropped, it is told to stop.
struct Watcher {
    reply: Reply,
    session: Session,
    on: Value,
    id: u64,
}

impl Watcher {
    async fn start(session: &Session, on: Value, mut asked: Value) -> Result<Self, ActError> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed);
        asked["id"] = id.into();
        let mut call = on.clone();
        call["functionDeclaration"] = if on.get("objectId").is_some() {
            format!("function(asked){{return ({WATCHER})(asked,this)}}").into()
        } else {
            format!("function(asked){{return ({WATCHER})(asked)}}").into()
        };
        call["arguments"] = json!([{ "value": asked }]);
        call["returnByValue"] = true.into();
        call["awaitPromise"] = true.into();
        let reply = session.send("Runtime.callFunctionOn", call).await?;
        Ok(Self { reply, session: session.clone(), on, id })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut call = self.on.clone();
        call["functionDeclaration"] = "function(id){globalThis.tabvisorWaits?.get(id)?.()}".into();
        call["arguments"] = json!([{ "value": self.id }]);
        self.session.cast("Runtime.callFunctionOn", call);
    }
}
