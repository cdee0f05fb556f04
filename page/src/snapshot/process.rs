//! The commands that read the frames of one process.

use serde_json::json;
use serde_json::value::RawValue;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Reply, Session};

use super::ax::AxTree;
use super::dom::{self, DomDocument};
use super::frame_tree::{self, KnownFrame};
use super::surrogates;

const FRAMES: &str = "Page.getFrameTree";
const STYLES: &str = "DOMSnapshot.captureSnapshot";
const TREE: &str = "Accessibility.getFullAXTree";
const OWNER: &str = "DOM.getFrameOwner";

/// What was asked of a process, and until when its answers are waited for.
pub(super) struct Asked<'a> {
    session: &'a Session,
    budget: Budget,
    frames: Reply,
    styles: Reply,
}

/// The frames of one process and how they look.
pub(super) struct Process<'a> {
    session: &'a Session,
    budget: Budget,
    /// Parents before their children; the first is the process's topmost.
    pub(super) frames: Vec<KnownFrame>,
    /// Empty if Chromium could not tell.
    pub(super) documents: Vec<DomDocument>,
}

/// Asks for the frames and their styles.
pub(super) async fn ask(session: &Session, budget: Budget) -> Result<Asked<'_>, CdpError> {
    let frames = send(session, FRAMES, json!({}), &budget).await?;
    let styles = send(session, STYLES, dom::params(), &budget).await?;
    Ok(Asked { session, budget, frames, styles })
}

impl<'a> Asked<'a> {
    pub(super) async fn hear(self) -> Result<Process<'a>, CdpError> {
        let Self { session, budget, frames, styles } = self;
        let frames = read_frames(&hear(FRAMES, frames, &budget).await?)?;
        let documents = match hear(STYLES, styles, &budget).await {
            Ok(reply) => read(STYLES, reply.get(), dom::read)?,
            // A page that has no styles to tell of still has its trees.
            Err(CdpError::Protocol { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Process { session, budget, frames, documents })
    }
}

impl Process<'_> {
    pub(super) fn session(&self) -> &Session {
        self.session
    }

    /// How long its answers are waited for.
    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The document of a frame, as the styles tell it.
    pub(super) fn document(&self, frame: &str) -> Option<&DomDocument> {
        self.documents.iter().find(|it| *it.frame == *frame)
    }

    /// The frame element in `parent` that holds `frame`, as the styles tell it.
    pub(super) fn owner(&self, parent: &str, frame: &str) -> Option<i64> {
        let index = self.documents.iter().position(|it| *it.frame == *frame)?;
        let owner = self.document(parent)?.nodes.iter().find(|node| node.content == Some(index))?;
        Some(owner.backend_node_id)
    }

    /// Asks which element holds a frame of another process.
    pub(super) async fn ask_owner(&self, frame: &str) -> Result<i64, CdpError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            backend_node_id: i64,
        }
        let params = json!({ "frameId": frame });
        let answer: Answer = self.session.call_as(OWNER, params, &self.budget).await?;
        Ok(answer.backend_node_id)
    }

    /// Asks for the tree of a frame.
    pub(super) async fn ask_tree(&self, frame: &str) -> Result<Reply, CdpError> {
        send(self.session, TREE, json!({ "frameId": frame }), &self.budget).await
    }

    /// The tree that was asked for, at most `most` nodes of it.
    pub(super) async fn hear_tree(&self, reply: Reply, most: usize) -> Result<AxTree, CdpError> {
        read_tree(hear(TREE, reply, &self.budget).await?.get(), most)
    }

    /// Asks for the frames again.
    pub(super) async fn ask_frames(&self) -> Result<Reply, CdpError> {
        send(self.session, FRAMES, json!({}), &self.budget).await
    }

    /// The frames that were asked for.
    pub(super) async fn hear_frames(&self, reply: Reply) -> Result<Vec<KnownFrame>, CdpError> {
        read_frames(&hear(FRAMES, reply, &self.budget).await?)
    }
}

/// At most `most` nodes of a tree, from the text of a reply.
pub(super) fn read_tree(text: &str, most: usize) -> Result<AxTree, CdpError> {
    read(TREE, text, |text| AxTree::read(text, most))
}

async fn send(
    session: &Session,
    method: &'static str,
    params: serde_json::Value,
    budget: &Budget,
) -> Result<Reply, CdpError> {
    budget.run(session.send(method, params)).await.map_err(|spent| CdpError::spent(method, spent))?
}

async fn hear(method: &'static str, reply: Reply, budget: &Budget) -> Result<Box<RawValue>, CdpError> {
    budget.run(reply).await.map_err(|spent| CdpError::spent(method, spent))?
}

fn read_frames(reply: &RawValue) -> Result<Vec<KnownFrame>, CdpError> {
    read(FRAMES, reply.get(), |text| serde_json::from_str::<frame_tree::Reply>(text))
        .map(frame_tree::Reply::frames)
}

/// Reads a reply, if need be without the halves of surrogate pairs in it.
fn read<T>(
    method: &str,
    reply: &str,
    parse: impl Fn(&str) -> Result<T, serde_json::Error>,
) -> Result<T, CdpError> {
    parse(reply).or_else(|_| parse(&surrogates::replaced(reply))).map_err(|why| {
        // Category and place only: the text may quote page content.
        let why = format!("{:?} error at column {}", why.classify(), why.column());
        CdpError::BadReply { method: method.to_owned(), why }
    })
}
