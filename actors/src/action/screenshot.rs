//! Screenshots, and names of elements drawn onto them.

use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::Target;
use tabvisor_page::screenshot::{
    Element, Format, Labelled, Options, Page, Shot, ShotError, Spot, What, capture, capture_labelled,
};
use tabvisor_page::snapshot::{Body, Request, Snapshot};

use super::act::{Named, resolve};
use super::{Stage, snapshot};
use crate::error::TabError;

/// What an image is to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ShotOf {
    /// What the viewport shows.
    #[default]
    View,
    /// The whole page, within limits.
    FullPage,
    /// An element; it is scrolled into view.
    Element(Named),
}

/// What image is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenshotRequest {
    /// Of what.
    pub of: ShotOf,
    /// In which format.
    pub format: Format,
    /// With the refs of what can be acted on drawn onto it.
    pub labels: bool,
    /// Made smaller until no side has more pixels; not with labels, which would not be readable.
    pub within: Option<u32>,
}

/// A screenshot.
#[derive(Clone, Debug)]
pub enum Screenshot {
    /// The image alone.
    Plain(Shot),
    /// With labels.
    Labelled(Labelled),
}

/// Takes the picture.
pub(super) async fn take(
    stage: &Stage,
    request: ScreenshotRequest,
    budget: &Budget,
) -> Result<Screenshot, TabError> {
    let ScreenshotRequest { of, format, labels, within } = request;
    let what = match of {
        ShotOf::View => What::View,
        ShotOf::FullPage => What::FullPage,
        ShotOf::Element(named) => What::Element(spot(stage, named, budget).await?),
    };
    let options = Options { what, format, within };
    if labels {
        let page = snapshot::take(stage, Request { interactive: Some(true), ..Request::default() }, budget);
        let page = page.await?;
        return labelled(stage, &page, &options, budget).await.map(Screenshot::Labelled);
    }
    let children = stage.frames.all();
    let page = Page { session: &stage.session, children: &children };
    Ok(Screenshot::Plain(stage.unless_hindered(capture(page, &options, budget)).await?))
}

/// A picture of the viewport with the refs of a snapshot.
pub(super) async fn of_snapshot(
    stage: &Stage,
    page: &Snapshot,
    budget: &Budget,
) -> Result<Labelled, TabError> {
    labelled(stage, page, &Options::default(), budget).await
}

async fn labelled(
    stage: &Stage,
    snapshot: &Snapshot,
    options: &Options,
    budget: &Budget,
) -> Result<Labelled, TabError> {
    let elements = elements(stage, snapshot);
    let children = stage.frames.all();
    let page = Page { session: &stage.session, children: &children };
    stage.unless_hindered(capture_labelled(page, options, elements, budget)).await
}

/// The elements of a snapshot that have refs, and where they are to be looked for.
fn elements(stage: &Stage, snapshot: &Snapshot) -> Vec<Element> {
    let Body::Text(text) = &snapshot.body else { return Vec::new() };
    let memory = stage.tab.memory();
    let element = |id: String| {
        let named = memory.resolve(&id).ok()?;
        let (frame, backend_node_id) = (named.frame.clone(), named.backend_node_id?);
        let target = memory.target_of(&frame).cloned();
        let (role, name) = (named.role.clone(), named.name.clone());
        Some(Element { r#ref: id.into(), role, name, spot: Spot { frame, target, backend_node_id } })
    };
    text.refs.iter().filter_map(|entry| element(entry.id.to_string())).collect()
}

async fn spot(stage: &Stage, named: Named, budget: &Budget) -> Result<Spot, TabError> {
    match resolve(stage, named, budget).await? {
        Target::Element(element) => {
            let (frame, target) = (element.frame, element.process);
            Ok(Spot { frame, target, backend_node_id: element.backend_node_id })
        }
        Target::Css(selector) => {
            let backend_node_id = snapshot::first_match(stage, &selector, budget).await?;
            Ok(Spot { frame: stage.tab.target.as_str().into(), target: None, backend_node_id })
        }
    }
}

impl From<ShotError> for TabError {
    fn from(error: ShotError) -> Self {
        match error {
            ShotError::Link(error) => error.into(),
            other => Self::Screenshot(other),
        }
    }
}
