//! Where pictures and PDFs are put: in files on this machine, as the contract has it, the oldest of
//! which go.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use super::error::ApiError;

/// How many of a kind are kept.
const KEPT: usize = 200;

/// What is kept in files.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Png,
    Jpeg,
    Pdf,
}

impl Kind {
    /// How names begin, and how they end.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Png => ("shot", "png"),
            Self::Jpeg => ("shot", "jpg"),
            Self::Pdf => ("page", "pdf"),
        }
    }
}

/// Puts `bytes` into a file of its own in `folder`.
pub(crate) async fn save(folder: PathBuf, kind: Kind, bytes: Vec<u8>) -> Result<String, ApiError> {
    let shown = folder.display().to_string();
    let saved = tokio::task::spawn_blocking(move || write(&folder, kind, &bytes, KEPT)).await;
    let saved = saved.map_err(io::Error::other).flatten();
    saved.map(|path| path.display().to_string()).map_err(|why| {
        tracing::error!(%why, "a file could not be written");
        let error = format!("the file could not be written into {shown}: {why}");
        ApiError::new(axum::http::StatusCode::INSUFFICIENT_STORAGE, error).reason("storage")
    })
}

fn write(folder: &Path, kind: Kind, bytes: &[u8], kept: usize) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // What pages show is nobody else's business.
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis());
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let (begin, end) = kind.words();
    let path = folder.join(format!("{begin}-{now:013}-{number:06}.{end}"));
    fs::write(&path, bytes)?;
    // Names sort by age.
    let mut all: Vec<_> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let ours = |name: &str| name.strip_prefix(begin).is_some_and(|rest| rest.starts_with('-'));
    all.retain(|path| path.file_name().is_some_and(|name| ours(&name.to_string_lossy())));
    all.sort();
    for old in all.iter().rev().skip(kept) {
        // Another call may have removed it already.
        let _ = fs::remove_file(old);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pictures");
        let document = write(&path, Kind::Pdf, b"x", 3).unwrap();
        let written: Vec<_> = (0..5).map(|_| write(&path, Kind::Jpeg, b"x", 3).unwrap()).collect();
        let there: Vec<bool> = written.iter().map(|path| path.exists()).collect();
        assert_eq!(there, [false, false, true, true, true]);
        assert_eq!(written[0].extension().unwrap(), "jpg");
        assert!(document.exists(), "other kinds are counted by themselves");
    }
}
