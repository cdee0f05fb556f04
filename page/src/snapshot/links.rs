//! The list of links below the text of a snapshot.

use super::ax::AxTree;

/// Most links that are listed.
const MOST: usize = 100;
/// Longest text of a link without a name, in characters.
const MAX_TEXT: usize = 100;

/// Links, in the order of their lines.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<String>);

impl Links {
    /// Adds a node, if it is a link that leads somewhere.
    pub(super) fn add(&mut self, tree: &AxTree, at: usize) {
        let node = &tree.nodes[at];
        let Some(url) = node.states.url.as_ref().filter(|_| node.role.eq_ignore_ascii_case("link")) else {
            return;
        };
        let text = if node.name.is_empty() { &*tree.text_below(at, MAX_TEXT) } else { &*node.name };
        self.add_text(text, url);
    }

    /// Adds a link.
    fn add_text(&mut self, text: &str, url: &str) {
        if self.0.len() < MOST {
            self.0.push(format!("{}. {text} -> {url}", self.0.len() + 1));
        }
    }

    /// The list; none if there are no links.
    pub(super) fn footer(self) -> Option<String> {
        (!self.0.is_empty()).then(|| format!("Links:\n{}", self.0.join("\n")))
    }
}
