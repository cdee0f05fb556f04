//! Where the frames of a page hang, and with that, where their viewports are.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::error::CdpError;

use super::boxes::{Process, bad};
use super::geometry::{Map, Rect, around_quad};

const OWNER: &str = "DOM.getFrameOwner";
const MODEL: &str = "DOM.getBoxModel";

/// A document: the index of its process, and its own there.
type At = (usize, usize);

/// The frame element that holds a document.
#[derive(Clone, Copy)]
struct Hanging {
    within: At,
    map: Map,
    content: Rect,
}

/// Where documents hang.
#[derive(Default)]
pub(super) struct Hangings(HashMap<At, Hanging>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: i64,
}

#[derive(Deserialize)]
struct Answer {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    content: [f64; 8],
    border: [f64; 8],
    width: f64,
    height: f64,
}

/// Asks for the frame elements around these documents.
pub(super) async fn read(processes: &[Process<'_>], used: HashSet<At>) -> Result<Hangings, CdpError> {
    let mut seen = HashSet::new();
    let mut waiting: Vec<At> = used.into_iter().collect();
    let (mut known, mut remote) = (Vec::new(), Vec::new());
    while let Some(at) = waiting.pop() {
        let (process, document) = at;
        if at == (0, 0) || !seen.insert(at) {
            continue;
        }
        if let Some((within, element)) = processes[process].layout.documents[document].owner {
            known.push((at, (process, within), element));
            waiting.push((process, within));
        } else if let (Some(within), Some(top)) = (around(processes, process), processes[process].top) {
            remote.push((at, within, top));
            waiting.push(within);
        }
    }
    let mut asked = Vec::with_capacity(remote.len());
    for (at, within, top) in remote {
        let parent = &processes[within.0];
        let reply = parent.budget.run(parent.session.send(OWNER, json!({ "frameId": &**top }))).await;
        asked.push((at, within, reply));
    }
    for (at, within, reply) in asked {
        let Ok(Ok(reply)) = reply else { continue };
        if let Some(owner) = hear::<Owner>(OWNER, reply, &processes[within.0]).await? {
            known.push((at, within, owner.backend_node_id));
        }
    }
    let mut asked = Vec::with_capacity(known.len());
    for (at, within, element) in known {
        let parent = &processes[within.0];
        let reply = parent.budget.run(parent.session.send(MODEL, json!({ "backendNodeId": element }))).await;
        asked.push((at, within, reply));
    }
    let mut hangings = Hangings::default();
    for (at, within, reply) in asked {
        let Ok(Ok(reply)) = reply else { continue };
        let Some(Answer { model }) = hear(MODEL, reply, &processes[within.0]).await? else { continue };
        let map = Map::of_frame(model.content, model.border, model.width, model.height);
        hangings.0.insert(at, Hanging { within, map, content: around_quad(model.content) });
    }
    Ok(hangings)
}

/// The document around the topmost one of a process.
fn around(processes: &[Process<'_>], process: usize) -> Option<At> {
    let parent = processes[process].parent.as_ref()?;
    processes.iter().enumerate().find_map(|(at, it)| {
        let document = it.layout.documents.iter().position(|document| document.frame == *parent)?;
        Some((at, document))
    })
}

/// None for an element that is gone or has no box, and for a process that is silent.
async fn hear<T: serde::de::DeserializeOwned>(
    method: &'static str,
    reply: tabvisor_cdp::link::Reply,
    process: &Process<'_>,
) -> Result<Option<T>, CdpError> {
    match process.budget.run(reply).await {
        Ok(Ok(raw)) => serde_json::from_str(raw.get()).map(Some).map_err(|why| bad(method, &why)),
        Ok(Err(error @ CdpError::LinkClosed(_))) => Err(error),
        Err(spent) if process.top.is_none() => Err(CdpError::spent(method, spent)),
        Ok(Err(_)) | Err(_) => Ok(None),
    }
}

impl Hangings {
    /// From the viewport of a document to that of the main frame, and the part of the latter in
    /// which the document can be seen; none for no bounds. Nothing if it hangs nowhere.
    pub(super) fn of(&self, process: usize, document: usize) -> Option<(Map, Option<Rect>)> {
        let mut chain = Vec::new();
        let mut at = (process, document);
        while at != (0, 0) {
            let hanging = self.0.get(&at)?;
            // A page that changes while it is read may seem to hang in itself.
            if chain.len() > self.0.len() {
                return None;
            }
            chain.push(hanging);
            at = hanging.within;
        }
        // Boxes of frame elements are in the viewport of their process's topmost frame, so of the
        // frames of one process only the last one counts.
        let (mut outer, mut process) = (Map::SAME, 0);
        let (mut map, mut room) = (Map::SAME, None::<Rect>);
        for hanging in chain.into_iter().rev() {
            if hanging.within.0 != process {
                (outer, process) = (map, hanging.within.0);
            }
            let content = outer.rect(hanging.content);
            room = Some(room.map_or(Some(content), |room| content.within(room)).unwrap_or_default());
            map = hanging.map.then(&outer);
        }
        Some((map, room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hanging(within: At, x: f64, y: f64) -> Hanging {
        let content = [x, y, x + 100.0, y, x + 100.0, y + 100.0, x, y + 100.0];
        Hanging { within, map: Map::of_frame(content, content, 100.0, 100.0), content: around_quad(content) }
    }

    /// main > a (same process) > b (same process) > c (another process) > d (in that).
    #[test]
    fn offsets_are_added_once_per_process() {
        let hangings = Hangings(HashMap::from([
            ((0, 1), hanging((0, 0), 10.0, 10.0)),
            ((0, 2), hanging((0, 1), 30.0, 30.0)),
            ((1, 0), hanging((0, 2), 50.0, 50.0)),
            ((1, 1), hanging((1, 0), 5.0, 5.0)),
        ]));
        let dot = Rect::new(1.0, 1.0, 1.0, 1.0);
        for (at, x) in [((0, 0), 1.0), ((0, 1), 11.0), ((0, 2), 31.0), ((1, 0), 51.0), ((1, 1), 56.0)] {
            let (map, _) = hangings.of(at.0, at.1).unwrap();
            assert_eq!(map.rect(dot), Rect::new(x, x, 1.0, 1.0), "{at:?}");
        }
        assert_eq!(hangings.of(1, 1).unwrap().1, Some(Rect::new(55.0, 55.0, 55.0, 55.0)));
        assert!(hangings.of(2, 0).is_none());
    }

    #[test]
    fn a_circle_ends() {
        let hangings = Hangings(HashMap::from([((1, 0), hanging((1, 0), 0.0, 0.0))]));
        assert!(hangings.of(1, 0).is_none());
    }
}
