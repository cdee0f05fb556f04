//! What is wrong with a configuration, and where it came from.

use std::path::PathBuf;

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A value that cannot be.
    #[error("{key}: {why}{}", from(.given_by.as_deref()))]
    Invalid {
        /// The key, e.g. `limits.tabs`.
        key: String,
        /// What is wrong and what is allowed.
        why: String,
        /// The file, variable or flag that gave it, where that is known.
        given_by: Option<String>,
    },
    /// A key or variable that does not exist.
    #[error("unknown {what} {key}{}{}", from(.given_by.as_deref()), suggestion(.nearest.as_deref()))]
    Unknown {
        /// `key` or `variable`.
        what: &'static str,
        /// What was given.
        key: String,
        /// The file that has it; none for a variable, which says so by itself.
        given_by: Option<String>,
        /// The nearest one that exists, if any is near.
        nearest: Option<String>,
    },
    /// A configuration file that cannot be read.
    #[error("configuration file {}: {why}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl ConfigError {
    pub(super) fn invalid(key: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { key: key.into(), why: why.into(), given_by: None }
    }

    /// Adds where the value came from.
    #[cfg(feature = "cli")]
    pub(super) fn sourced(mut self, source: impl FnOnce(&str) -> Option<String>) -> Self {
        if let Self::Invalid { key, given_by: given_by @ None, .. } = &mut self {
            *given_by = source(key);
        }
        self
    }
}

fn from(given_by: Option<&str>) -> String {
    given_by.map(|given_by| format!(" (from {given_by})")).unwrap_or_default()
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default()
}
