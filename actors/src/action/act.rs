//! What is done on a page as a user would: resolved, done, told with the tabs that it opened.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::{Delivery, Events};
use tabvisor_page::act::{
    self, ActError, ActPage, Chord, Click, Element, FillField, Modifiers, NavigationState, OptionName,
    Outcome, Place, Point, Press, Scroll, Select, Target, TypeMode, TypeText, Viewport,
};

use super::{Stage, snapshot};
use crate::error::TabError;
use crate::events::{Event, Item, Subscription};
use crate::files::Download;
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
    /// Show a person which element is meant, or none any more. Nothing is put into the page.
    Highlight { on: Option<Named> },
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
    /// The same, with what is known of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<OpenedTab>,
    /// Downloads that began meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// Those of its downloads that began later have this number or a higher one.
    #[serde(skip)]
    pub(crate) downloads_from: u64,
}

/// A tab that a page opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenedTab {
    /// Its name.
    pub tab: TabId,
    /// Where it goes.
    pub url: String,
    /// Whose page opened it.
    pub opener: TabId,
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
            Self::Highlight { .. } => "highlight",
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
/// How long a navigation without a document may take to turn out as a download.
const BEGINS_WITHIN: Duration = Duration::from_millis(300);
/// How long a download may take whose end is told beside what began it; and to begin, behind a link that
/// says that it saves.
const ENDS_WITHIN: Duration = Duration::from_secs(1);
const BEGINS: &[&str] = &["Page.windowOpen", "Page.downloadWillBegin"];

/// What a page begins while it is acted on: tabs and downloads.
pub(super) struct Begun<'a> {
    tab: &'a TabShared,
    asked: Events,
    events: Subscription,
    from: u64,
}

/// Does it.
pub(super) async fn act(stage: &Stage, act: Act, budget: &Budget) -> Result<Acted, TabError> {
    let page = free_page(stage)?;
    let begun = Begun::watch(stage);
    let outcome = perform(stage, &page, act, budget).await?;
    Ok(begun.told(outcome, budget).await)
}

/// The page that is acted on, unless it is stuck.
pub(super) fn free_page(stage: &Stage) -> Result<ActPage, TabError> {
    let tab = &stage.tab;
    let stuck = *tab.stuck.borrow();
    if let Some(stuck) = stuck {
        return Err(stuck.refusal(tab.id));
    }
    Ok(page(stage))
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
        Act::Highlight { on: None } => act::highlight(page, None, budget).await,
        Act::Highlight { on: Some(named) } => act::highlight(page, Some(&on(named).await?), budget).await,
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

impl<'a> Begun<'a> {
    /// Begins to listen.
    pub(super) fn watch(stage: &'a Stage) -> Self {
        let tab = &stage.tab;
        let from = tab.browser.downloads.borrow().next();
        let asked = stage.session.subscribe(BEGINS, 64);
        Self { tab, asked, events: tab.browser.events.subscribe(), from }
    }

    /// An outcome, with what the page has begun.
    pub(super) async fn told(mut self, outcome: Outcome, budget: &Budget) -> Acted {
        #[derive(Deserialize)]
        struct Asked {
            url: String,
        }
        let (mut urls, mut begun) = (Vec::new(), 0);
        while let Some(delivery) = self.asked.try_next() {
            let Delivery::Event(event) = delivery else { continue };
            if &*event.method == "Page.windowOpen" {
                let asked = serde_json::from_str::<Asked>(event.params.get());
                urls.push(asked.map(|it| it.url).unwrap_or_default());
            } else {
                begun += 1;
            }
        }
        let tabs = urls.len();
        // A link whose document does not come may have been one to a file.
        let unclear =
            outcome.observed.navigation.as_ref().is_some_and(|it| it.state == NavigationState::Started);
        let saves = outcome.observed.saves;
        let opened_tabs = self.opened(tabs, budget).await;
        let wanted = begun.max(usize::from(unclear || saves || tabs > 0));
        let patience = if begun > 0 || saves { ENDS_WITHIN } else { BEGINS_WITHIN };
        let downloads = begun_downloads(self.tab, self.from, (wanted, patience), budget).await;
        let opener = self.tab.id;
        let row = |(tab, url): (&TabId, String)| OpenedTab { tab: *tab, url, opener };
        let opened = opened_tabs.iter().zip(urls).map(row).collect();
        Acted { outcome, opened_tabs, opened, downloads, downloads_from: self.from }
    }

    /// The tabs that the page asked for.
    async fn opened(&mut self, wanted: usize, budget: &Budget) -> Vec<TabId> {
        let mut opened = Vec::new();
        let patience = budget.child(OPENS_WITHIN);
        while opened.len() < wanted {
            match patience.run(self.events.next()).await {
                Ok(Some(Item::Event(numbered))) => match numbered.event {
                    Event::TabOpened { tab: new, opener: Some(opener), .. } if opener == self.tab.id => {
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
}

/// The downloads of a tab from number `from` on, once so many began; with the ends of those that end at
/// once.
async fn begun_downloads(
    tab: &TabShared,
    from: u64,
    (wanted, patience): (usize, Duration),
    budget: &Budget,
) -> Vec<Download> {
    let downloads = &tab.browser.downloads;
    let mut changes = downloads.subscribe();
    if wanted > 0 {
        let began = changes.wait_for(|all| all.since(tab.id, from).len() >= wanted);
        let _ = budget.child(patience).run(began).await;
    }
    if downloads.borrow().since(tab.id, from).is_empty() {
        return Vec::new();
    }
    let over = changes.wait_for(|all| all.since(tab.id, from).iter().all(Download::is_over));
    let _ = budget.child(ENDS_WITHIN).run(over).await;
    let begun = downloads.borrow().since(tab.id, from);
    downloads.send_modify(|all| all.told(&begun));
    begun
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
