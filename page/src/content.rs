//! What a page holds that is read or written as it is: its storage, and its text.
//!
//! Asked in a world of our own: the page cannot change what the question means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use crate::isolated;

/// Which storage of the page's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKind {
    /// It stays.
    Local,
    /// It ends with the tab.
    Session,
}

/// What to read or write; it gives the values that are there afterwards, where any were asked for.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// All values of a storage, or the one of a key.
    Read(StorageKind, Option<String>),
    /// Sets a value.
    Write(StorageKind, String, String),
    /// Forgets everything in a storage.
    Clear(StorageKind),
    /// The text of the first element that a selector matches; without one, of the article, the main
    /// part or the body. At most so many characters.
    Text(Option<String>, u32),
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What came of it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The values of a storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<BTreeMap<String, String>>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// There is more text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

/// Why it is not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The page says no: it has no storage, it is full, the selector is none.
    #[error("the page refused it: {0}")]
    Refused(String),
    /// Nothing matches the selector.
    #[error("nothing matches the selector")]
    NoMatch,
    /// It is more than is read at once.
    #[error("the storage holds over {MOST} characters; ask for one key")]
    TooLarge,
    /// The link.
    #[error(transparent)]
    Link(#[from] CdpError),
}

/// Most characters of a storage that are read at once.
const MOST: usize = 5_000_000;

const SCRIPT: &str = r"function (what, kind, key, value, most) {
  try {
    if (what === 'text') {
      const found = key === null
        ? document.querySelector('article') || document.querySelector('main, [role=main]') || document.body || document.documentElement
        : document.querySelector(key);
      if (!found) return { none: true };
      const all = found.innerText === undefined ? found.textContent : found.innerText;
      let text = Array.from(all.slice(0, 2 * most)).slice(0, most).join('');
      return { text, truncated: text.length < all.length };
    }
    const storage = kind === 'local' ? localStorage : sessionStorage;
    if (what === 'clear') { storage.clear(); return {}; }
    if (what === 'write') { storage.setItem(key, value); return { values: { [key]: storage.getItem(key) } }; }
    const values = Object.create(null);
    let size = 0;
    const take = name => {
      const found = storage.getItem(name);
      if (found === null) return;
      size += name.length + found.length;
      if (size <= most) values[name] = found;
    };
    if (key !== null) take(key);
    else for (let i = 0; i < storage.length && size <= most; i++) take(storage.key(i));
    return size > most ? { large: true } : { values };
  } catch (error) {
    return { refused: String(error && error.message || error) };
  }
}";

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    none: bool,
    #[serde(default)]
    large: bool,
    refused: Option<String>,
    #[serde(flatten)]
    held: Held,
}

impl Content {
    /// Its name, for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read(..) => "storage_read",
            Self::Write(..) => "storage_write",
            Self::Clear(_) => "storage_clear",
            Self::Text(..) => "text",
        }
    }

    /// Does it in the document that `frame` shows now.
    ///
    /// # Errors
    /// [`ContentError`].
    pub async fn perform(
        &self,
        session: &Session,
        frame: &str,
        budget: &Budget,
    ) -> Result<Held, ContentError> {
        let kind = |kind: &StorageKind| if *kind == StorageKind::Local { "local" } else { "session" };
        let arguments = match self {
            Self::Read(of, key) => json!(["read", kind(of), key, null, MOST]),
            Self::Write(of, key, value) => json!(["write", kind(of), key, value, MOST]),
            Self::Clear(of) => json!(["clear", kind(of), null, null, MOST]),
            Self::Text(selector, most) => json!(["text", null, selector, null, most]),
        };
        let arguments: Vec<Value> =
            arguments.as_array().into_iter().flatten().map(|it| json!({ "value": it })).collect();
        let world = isolated::world(session, frame, budget).await?;
        let call = json!({
            "functionDeclaration": SCRIPT, "executionContextId": world, "arguments": arguments, "returnByValue": true,
        });
        let said: Value = session.call_as("Runtime.callFunctionOn", call, budget).await?;
        // An own script that fails is one whose document is being replaced.
        let said: Said = serde_json::from_value(said["result"]["value"].clone())
            .map_err(|_| ContentError::Refused("it went away meanwhile".into()))?;
        match said {
            Said { refused: Some(why), .. } => Err(ContentError::Refused(why.chars().take(300).collect())),
            Said { none: true, .. } => Err(ContentError::NoMatch),
            Said { large: true, .. } => Err(ContentError::TooLarge),
            Said { held, .. } => Ok(held),
        }
    }
}
