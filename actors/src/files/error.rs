//! What goes wrong with files.

/// What goes wrong with files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// A file that may not be given to a page; nothing was sent.
    #[error("paths: {path:?} {why}; uploads are taken from the folder {folder:?} (files.uploads)")]
    NotAllowed {
        /// What was asked for, shortened.
        path: String,
        /// Why.
        why: &'static str,
        /// The folder that is allowed.
        folder: String,
    },
    /// There is no such file; nothing was sent.
    #[error("paths: {path:?} does not exist in the uploads folder")]
    NotFound {
        /// What was asked for, shortened.
        path: String,
    },
    /// Its bytes would have to go through the link, and are too many; nothing was sent.
    #[error(
        "paths: {bytes} bytes would have to be sent to a browser that sees no files of this machine, over the limit of {limit} \
         (files.max_transfer_bytes); give remotePath if the files are on its machine"
    )]
    TooLarge {
        /// All files together.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A download that would be put elsewhere; nothing was sent.
    #[error("Invalid path: must stay within downloads directory ({why})")]
    OutsideDownloads {
        /// Why.
        why: &'static str,
    },
    /// This browser's downloads are not known here.
    #[error("downloads are not available with this browser: {0}")]
    Unsupported(String),
    /// None began in time.
    #[error("Timeout waiting for download: none began within {waited_ms} ms")]
    NoneBegan {
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// It began and did not end in time.
    #[error(
        "Timeout waiting for download: {url} had {received_bytes} bytes after {waited_ms} ms; {}",
        if *.cancelled { "it was cancelled" } else { "it goes on, and can be waited for again" }
    )]
    Unfinished {
        /// Its address, shortened.
        url: String,
        /// How much had arrived.
        received_bytes: u64,
        /// How long it was waited for.
        waited_ms: u64,
        /// It was ended with the wait.
        cancelled: bool,
    },
    /// It ended without a file.
    #[error("the download of {url} failed: {why}")]
    Failed {
        /// Its address, shortened.
        url: String,
        /// Why.
        why: String,
    },
    /// The document is another one than was expected; nothing was done.
    #[error("expectedUrl: the document is {found} now")]
    OtherDocument {
        /// What the tab shows.
        found: String,
    },
}

impl FileError {
    /// A stable word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotAllowed { .. } | Self::OutsideDownloads { .. } => "file_not_allowed",
            Self::NotFound { .. } => "file_not_found",
            Self::TooLarge { .. } => "file_too_large",
            Self::Unsupported(_) => "unsupported",
            Self::NoneBegan { .. } | Self::Unfinished { .. } => "timeout",
            Self::Failed { .. } => "download_failed",
            Self::OtherDocument { .. } => "document_changed",
        }
    }
}

/// Enough of a text to know what it is.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}
