//! Making Chromium render a page that nobody sees.
//!
//! Of the tabs of a window only the front one renders, headless too; a shot of any other waits for
//! a frame that never comes. A screencast wants frames, so with one running they come, and the tab
//! stays hidden and behind: bringing it to the front would hide its neighbour.

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

const START: &str = "Page.startScreencast";

/// Frames are rendered until this is dropped.
pub(super) struct FramesWanted<'a>(&'a Session);

impl<'a> FramesWanted<'a> {
    /// Sent, not waited for: the shot behind it is what tells. The images are tiny, and after
    /// a few no more come because none is acknowledged. A screencast that this session runs already
    /// would end with the shot.
    pub(super) async fn begin(session: &'a Session, budget: &Budget) -> Result<Self, CdpError> {
        // Made first, so that a start that is given up half way is taken back.
        let wanted = Self(session);
        let params = json!({ "format": "jpeg", "quality": 1, "maxWidth": 8, "maxHeight": 8 });
        let sent = budget.run(session.send(START, params)).await;
        drop(sent.map_err(|spent| CdpError::spent(START, spent))??);
        Ok(wanted)
    }
}

impl Drop for FramesWanted<'_> {
    fn drop(&mut self) {
        self.0.cast("Page.stopScreencast", json!({}));
    }
}
