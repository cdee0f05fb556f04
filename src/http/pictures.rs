//! Where pictures are put: in files on this machine, as the contract has it, the oldest of which go.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use tabvisor_page::screenshot::Shot;

use super::error::ApiError;

/// How many pictures are kept.
const KEPT: usize = 200;

/// Puts a picture into a file of its own in `folder`.
pub(super) async fn save(folder: PathBuf, shot: Shot) -> Result<String, ApiError> {
    let shown = folder.display().to_string();
    let saved = tokio::task::spawn_blocking(move || write(&folder, &shot, KEPT)).await;
    let saved = saved.map_err(io::Error::other).flatten();
    saved.map(|path| path.display().to_string()).map_err(|why| {
        tracing::error!(%why, "a picture could not be written");
        let error = format!("the picture could not be written into {shown}: {why}");
        ApiError::new(axum::http::StatusCode::INSUFFICIENT_STORAGE, error).reason("storage")
    })
}

fn write(folder: &Path, shot: &Shot, kept: usize) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // What pages show is nobody else's business.
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis());
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let kind = if shot.format.word() == "jpeg" { "jpg" } else { "png" };
    let path = folder.join(format!("shot-{now:013}-{number:06}.{kind}"));
    fs::write(&path, &shot.bytes)?;
    // Names sort by age.
    let mut all: Vec<_> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("shot-")));
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
    use tabvisor_page::screenshot::{Format, Rect};

    #[test]
    fn only_the_newest_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pictures");
        let shot = Shot {
            bytes: b"x".to_vec(),
            format: Format::Jpeg(80),
            width: 1,
            height: 1,
            scale: 1.0,
            clip: Rect::new(0.0, 0.0, 1.0, 1.0),
            truncated: false,
        };
        let written: Vec<_> = (0..5).map(|_| write(&path, &shot, 3).unwrap()).collect();
        let there: Vec<bool> = written.iter().map(|path| path.exists()).collect();
        assert_eq!(there, [false, false, true, true, true]);
        assert_eq!(written[0].extension().unwrap(), "jpg");
    }
}
