//! What is done on a page as a user would: resolved, done, told with the tabs that it opened.

use std::time::Duration;

use serde::Serialize;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::{Delivery, Events};
use tabvisor_page::act::{
    self, ActError, ActPage, Chord, Click, Element, FillField, Modifiers, OptionName, Outcome, Place, Point,
    Press, Scroll, Select, Target, TypeMode, TypeText, Viewport,
};

use super::{Stage, snapshot};
use crate::error::TabError;
use crate::events::{Event, Item, Subscription};
use crate::ids::TabId;
use crate::shared::TabShared;

/// An element, as a caller names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// By its ref, in any of its spellings.
    Ref(String),
    /// The only one in the main frame's document that this CSS selector matches.
    Css(String),
}

/// Where the pointer goes.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// To an element.
    On(Named),
    /// To a point of the viewport, in CSS pixels.
    Point(Point),
}

/// What to do on a page.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are; each variant is documented")]
pub enum Act {
    /// Click, as a user does, or (`by_events`) by events that a script makes.
    Click { at: At, click: Click, by_events: bool },
    /// Move the pointer there.
    Hover { at: At, modifiers: Modifiers },
    /// Press, move and let go.
    Drag { from: At, to: At },
    /// Turn the wheel, in the middle of the page or elsewhere.
    Scroll { at: Option<At>, by: Scroll },
    /// Bring it into view.
    ScrollIntoView { on: Named },
    /// Put text into a field.
    Type { on: Named, text: String, mode: TypeMode, replace: bool, submit: bool, delay: Duration },
    /// Put text where the caret is.
    InsertText { text: String },
    /// Press a key.
    Press { chord: Chord, on: Option<Named>, hold_for: Duration },
    /// Choose options.
    Select { on: Named, options: Vec<String>, by: OptionName },
    /// Check or uncheck.
    Check { on: Named, checked: bool },
    /// Give the page a viewport of this size; it keeps it until it is given another.
    Resize(Viewport),
    /// Fill several fields: text, checkboxes, options.
    Fill { fields: Vec<(Named, serde_json::Value)> },
}

/// What became of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Acted {
    /// What the page saw.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Tabs that the page opened meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opened_tabs: Vec<TabId>,
}

impl Act {
    /// Its name, for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Click { .. } => "click",
            Self::Hover { .. } => "hover",
            Self::Drag { .. } => "drag",
            Self::Scroll { .. } => "scroll",
            Self::ScrollIntoView { .. } => "scroll_into_view",
            Self::Type { .. } => "type",
            Self::InsertText { .. } => "insert_text",
            Self::Press { .. } => "press",
            Self::Select { .. } => "select",
            Self::Check { .. } => "check",
            Self::Resize(_) => "resize",
            Self::Fill { .. } => "fill",
        }
    }
}

/// How long a tab that a page has asked for may take to be there.
const OPENS_WITHIN: Duration = Duration::from_secs(1);
const WINDOW_OPEN: &[&str] = &["Page.windowOpen"];

/// Does it.
pub(super) async fn act(stage: &Stage, act: Act, budget: &Budget) -> Result<Acted, TabError> {
    let tab = &stage.tab;
    let stuck = *tab.stuck.borrow();
    if let Some(stuck) = stuck {
        return Err(stuck.refusal(tab.id));
    }
    let page = page(stage);
    let mut asked = stage.session.subscribe(WINDOW_OPEN, 64);
    let mut events = tab.browser.events.subscribe();
    let outcome = perform(stage, &page, act, budget).await?;
    let opened_tabs = opened(tab, &mut asked, &mut events, budget).await;
    Ok(Acted { outcome, opened_tabs })
}

/// The page that is acted on.
pub(super) fn page(stage: &Stage) -> ActPage {
    let tab = &stage.tab;
    ActPage {
        session: stage.session.clone(),
        // Of a page, the target and its main frame have one id.
        main: tab.target.as_str().into(),
        frames: stage.frames.clone(),
        condition: tab.condition.subscribe(),
    }
}

async fn perform(stage: &Stage, page: &ActPage, what: Act, budget: &Budget) -> Result<Outcome, TabError> {
    let on = async |named: Named| resolve(stage, named, budget).await;
    let at = async |at: At| match at {
        At::On(named) => Ok::<_, TabError>(Place::On(on(named).await?)),
        At::Point(point) => Ok(Place::At(point)),
    };
    let outcome = match what {
        Act::Click { at: At::On(named), click, by_events: true } => {
            act::click_by_events(page, &on(named).await?, &click, budget).await
        }
        Act::Click { by_events: true, .. } => {
            let why = "dom_event needs an element; give a ref or a selector".into();
            return Err(TabError::BadInput { field: "mode", why });
        }
        Act::Click { at: place, click, .. } => act::click(page, &at(place).await?, &click, budget).await,
        Act::Hover { at: place, modifiers } => act::hover(page, &at(place).await?, modifiers, budget).await,
        Act::Drag { from, to } => act::drag(page, &at(from).await?, &at(to).await?, budget).await,
        Act::Scroll { at: None, by } => act::scroll(page, None, by, budget).await,
        Act::Scroll { at: Some(place), by } => act::scroll(page, Some(&at(place).await?), by, budget).await,
        Act::ScrollIntoView { on: named } => act::scroll_into_view(page, &on(named).await?, budget).await,
        Act::Type { on: named, text, mode, replace, submit, delay } => {
            let request = TypeText { target: on(named).await?, text, mode, replace, submit, delay };
            act::type_text(page, &request, budget).await
        }
        Act::InsertText { text } => act::insert_text(page, &text, budget).await,
        Act::Press { chord, on: named, hold_for } => {
            let on = match named {
                Some(named) => Some(on(named).await?),
                None => None,
            };
            act::press(page, &Press { chord, on, hold_for }, budget).await
        }
        Act::Select { on: named, options, by } => {
            act::select(page, &Select { target: on(named).await?, options, by }, budget).await
        }
        Act::Check { on: named, checked } => act::check(page, &on(named).await?, checked, budget).await,
        Act::Resize(viewport) => {
            let resized = act::resize(page, viewport, budget).await;
            // Also if it is not known what became of it: it was asked for.
            if resized.as_ref().map_or_else(ActError::was_sent, |_| true) {
                stage.tab.kept().viewport = Some(viewport);
            }
            resized
        }
        Act::Fill { fields } => {
            let mut resolved = Vec::with_capacity(fields.len());
            for (named, value) in fields {
                resolved.push(FillField { target: on(named).await?, value });
            }
            act::fill(page, &resolved, budget).await
        }
    };
    Ok(outcome?)
}

/// What a caller's name stands for now.
pub(super) async fn resolve(stage: &Stage, named: Named, budget: &Budget) -> Result<Target, TabError> {
    let text = match named {
        Named::Css(selector) => return Ok(Target::Css(selector)),
        Named::Ref(text) => text,
    };
    let (named, process) = stage.tab.named(&text)?;
    let backend_node_id = match named.backend_node_id {
        Some(node) => node,
        None => snapshot::find(stage, named.id, budget).await?,
    };
    let (frame, document) = (named.frame, named.document);
    Ok(Target::Element(Element { name: text, backend_node_id, frame, document, process }))
}

/// The tabs that the page asked for meanwhile.
async fn opened(
    tab: &TabShared,
    asked: &mut Events,
    events: &mut Subscription,
    budget: &Budget,
) -> Vec<TabId> {
    let mut wanted = 0;
    while let Some(delivery) = asked.try_next() {
        wanted += usize::from(matches!(delivery, Delivery::Event(_)));
    }
    let mut opened = Vec::new();
    let patience = budget.child(OPENS_WITHIN);
    while opened.len() < wanted {
        match patience.run(events.next()).await {
            Ok(Some(Item::Event(numbered))) => match numbered.event {
                Event::TabOpened { tab: new, opener: Some(opener), .. } if opener == tab.id => {
                    opened.push(new);
                }
                _ => {}
            },
            Ok(Some(Item::Lagged { .. })) => {}
            // It was blocked, or is over a limit.
            Ok(None) | Err(_) => break,
        }
    }
    opened
}

impl From<ActError> for TabError {
    fn from(error: ActError) -> Self {
        match error {
            ActError::Dialog(dialog) => Self::Dialog(dialog),
            ActError::Stale(stale) => Self::StaleRef(stale),
            ActError::Link { error, sent: false } => error.into(),
            other => Self::Act(other),
        }
    }
}
