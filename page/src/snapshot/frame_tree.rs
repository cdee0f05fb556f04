//! The frames of one process, as `Page.getFrameTree` lists them.

use serde::Deserialize;

use crate::refs::{DocumentId, FrameId};

/// A frame and the document that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownFrame {
    pub(crate) id: FrameId,
    pub(crate) parent: Option<FrameId>,
    pub(crate) document: DocumentId,
    /// Empty while the first document of the frame is not there yet.
    pub(crate) url: String,
    /// It shows Chromium's page for a load that failed.
    pub(crate) failed: bool,
}

/// The reply of `Page.getFrameTree`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reply {
    frame_tree: Tree,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame: Wire,
    #[serde(default)]
    child_frames: Vec<Tree>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    id: Box<str>,
    parent_id: Option<Box<str>>,
    loader_id: Box<str>,
    #[serde(default)]
    url: String,
    url_fragment: Option<String>,
    unreachable_url: Option<String>,
}

impl Reply {
    /// All frames, parents before their children.
    pub(crate) fn frames(self) -> Vec<KnownFrame> {
        let mut found = Vec::new();
        let mut waiting = vec![self.frame_tree];
        while let Some(Tree { frame, mut child_frames }) = waiting.pop() {
            let failed = frame.unreachable_url.as_ref().is_some_and(|it| !it.is_empty());
            let shown = match frame.unreachable_url {
                Some(url) if failed => url,
                _ => frame.url + frame.url_fragment.as_deref().unwrap_or_default(),
            };
            found.push(KnownFrame {
                id: frame.id.into(),
                parent: frame.parent_id.map(Into::into),
                document: frame.loader_id.into(),
                url: shown,
                failed,
            });
            child_frames.reverse();
            waiting.append(&mut child_frames);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parents_come_before_their_children_in_page_order() {
        let reply = json!({ "frameTree": {
            "frame": { "id": "M", "loaderId": "m", "url": "http://a/", "urlFragment": "#x" },
            "childFrames": [
                { "frame": { "id": "A", "parentId": "M", "loaderId": "a", "url": "" },
                  "childFrames": [{ "frame": { "id": "AA", "parentId": "A", "loaderId": "aa", "url": "http://a/aa" } }] },
                { "frame": { "id": "B", "parentId": "M", "loaderId": "b", "url": "chrome-error://x", "unreachableUrl": "http://b/" } },
            ],
        }});
        let frames = serde_json::from_value::<Reply>(reply).unwrap().frames();
        let seen: Vec<_> = frames.iter().map(|it| (&*it.id, &*it.url, it.failed)).collect();
        assert_eq!(
            seen,
            [
                ("M", "http://a/#x", false),
                ("A", "", false),
                ("AA", "http://a/aa", false),
                ("B", "http://b/", true)
            ]
        );
    }
}
