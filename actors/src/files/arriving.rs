//! Where downloads arrive, under names that nobody chose, and where they are put then.

use std::io;
use std::path::{Path, PathBuf};

use super::folders::make_private;
use crate::ids::{BrowserId, Epoch};

/// A folder in which the downloads of one start of a browser arrive. It is gone when this is dropped,
/// with what is left of them.
#[derive(Debug)]
pub(crate) struct Arriving {
    folder: PathBuf,
}

/// Where those folders are: in the folder of the downloads, so that a file is put into its place
/// without being copied.
const PLACE: &str = ".arriving";

impl Arriving {
    /// Makes it, and removes those of processes that are no more.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn make(downloads: &Path, browser: BrowserId, epoch: Epoch) -> io::Result<Self> {
        make_private(downloads)?;
        let place = downloads.canonicalize()?.join(PLACE);
        make_private(&place)?;
        remove_left(&place);
        let folder = place.join(format!("{}-{browser}-{epoch}-{}", std::process::id(), unique()));
        make_private(&folder)?;
        Ok(Self { folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn unique() -> u64 {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Where processes cannot be looked at nothing is removed.
fn remove_left(place: &Path) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.split('-').next()?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Puts what arrived as `guid` into the folder of the downloads, as `name` or, where that is taken,
/// as `name (1)`.
pub(crate) async fn save(arrived: PathBuf, downloads: PathBuf, name: String) -> Result<PathBuf, String> {
    let saved = tokio::task::spawn_blocking(move || put(&arrived, &downloads, &name)).await;
    saved.map_err(io::Error::other).flatten().map_err(|why| format!("the file could not be saved: {why}"))
}

/// Gives a file another name, in the place of what has it.
pub(crate) async fn rename(from: PathBuf, to: PathBuf) -> Result<(), String> {
    tokio::fs::rename(&from, &to).await.map_err(|why| format!("the file could not be put there: {why}"))
}

fn put(arrived: &Path, downloads: &Path, name: &str) -> io::Result<PathBuf> {
    let downloads = downloads.canonicalize()?;
    for count in 0..10_000 {
        let path = downloads.join(numbered(name, count));
        // Whoever makes the empty file has the name; it is replaced by the whole one at once.
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => {
                return std::fs::rename(arrived, &path).map(|()| path.clone()).inspect_err(|_| {
                    let _ = std::fs::remove_file(&path);
                });
            }
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::Error::other("too many files have that name"))
}

fn numbered(name: &str, count: u32) -> String {
    match (count, name.rsplit_once('.')) {
        (0, _) => name.to_owned(),
        (_, Some((stem, ending))) if !stem.is_empty() => format!("{stem} ({count}).{ending}"),
        _ => format!("{name} ({count})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_that_is_taken_is_numbered_and_nothing_is_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let arriving = Arriving::make(place.path(), BrowserId(1), Epoch(1)).unwrap();
        let mut names = Vec::new();
        for text in ["one", "two", "three"] {
            let arrived = arriving.folder().join(text);
            std::fs::write(&arrived, text).unwrap();
            let saved = save(arrived, place.path().to_owned(), "a.txt".into()).await.unwrap();
            assert_eq!(std::fs::read_to_string(&saved).unwrap(), text);
            names.push(saved.file_name().unwrap().to_str().unwrap().to_owned());
        }
        assert_eq!(names, ["a.txt", "a (1).txt", "a (2).txt"]);
        let missing = arriving.folder().join("missing");
        let why = save(missing, place.path().to_owned(), "b.txt".into()).await.unwrap_err();
        assert!(why.contains("could not be saved"), "{why}");
        assert!(!place.path().join("b.txt").exists());
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_ours_goes_with_us() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join(PLACE).join(format!("{}-b1-1-0", u32::MAX - 1));
        std::fs::create_dir_all(&left).unwrap();
        let ours = Arriving::make(place.path(), BrowserId(1), Epoch(1)).unwrap();
        let other = Arriving::make(place.path(), BrowserId(1), Epoch(1)).unwrap();
        assert!(!left.exists() && ours.folder().exists() && ours.folder() != other.folder());
        let folder = ours.folder().to_owned();
        drop(ours);
        assert!(!folder.exists() && other.folder().exists());
    }
}
