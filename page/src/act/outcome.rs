//! What an action did, as far as the page was seen.

use serde::Serialize;

use super::input_seen::InputSeen;
use super::resize::Viewport;
use super::target::Point;
use crate::dialog::Dialog;

/// How sure it is that the action happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The page was seen to take it.
    Confirmed,
    /// A part of it; the counts tell which.
    Partial,
    /// It was sent, and could not be observed.
    Unverifiable,
    /// It was sent, and the page is as if it had not been.
    SuspectedNoop,
    /// Nothing was sent.
    Refused,
}

/// How an action reached the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// Input as of a user.
    TrustedInput,
    /// Events made by a script.
    DomEvent,
    /// A command of Chromium.
    Cdp,
    /// A script in the page.
    Page,
    /// The browser, without the page.
    Browser,
}

/// What became of an action that was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// How sure it is.
    pub effect: Effect,
    /// How it reached the page.
    pub route: Route,
    /// What the page saw.
    pub observed: Observed,
}

/// What the page saw of an action. What is absent was not looked at or could not be seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// The element that was meant, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What the pointer did.
    #[serde(flatten)]
    pub pointer: Option<PointerSeen>,
    /// What became of text, keys, choices and files.
    #[serde(flatten)]
    pub input: Option<InputSeen>,
    /// The state of the element afterwards.
    #[serde(flatten)]
    pub state: Option<StateAfter>,
    /// The size of the viewport.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
    /// A navigation of the main frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub navigation: Option<Navigation>,
    /// The dialog that opened meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// A download may begin a moment later.
    #[serde(skip)]
    pub saves: bool,
    /// What a caller should know beside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<&'static str>,
}

/// What the page saw of the pointer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PointerSeen {
    /// Where it was, in the viewport of the tab.
    pub point: Point,
    /// The element that got the event, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// The element that was meant got it, or one inside of it, or its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<bool>,
    /// The page sees it as the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_trusted: Option<bool>,
    /// The page kept the browser from doing what it does by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_prevented: Option<bool>,
    /// The events that were seen, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// How far it was scrolled, in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrolled: Option<Point>,
    /// The element that got what was dragged, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_on: Option<String>,
}

/// The state of an element after an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateAfter {
    /// It is in its document still.
    pub connected: bool,
    /// It or something inside of it has the focus.
    pub focused: bool,
    /// `true`, `false` or `mixed`, for what can be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// `true` or `false`, for what can be expanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded: Option<String>,
    /// `true`, `false` or `mixed`, for what can be pressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressed: Option<String>,
    /// `true` or `false`, for what can be selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<String>,
}

/// A navigation of the main frame that began while an action was under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Navigation {
    /// How far it is.
    pub state: NavigationState,
    /// Where it leads.
    pub url: String,
}

/// How far a navigation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NavigationState {
    /// It began.
    Started,
    /// Its document is there.
    Committed,
    /// It changed the address of the same document.
    SameDocument,
}
