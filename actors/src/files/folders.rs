//! Where files of callers may be.

use std::io;
use std::path::{Component, Path, PathBuf};

use tabvisor_page::act::{ActError, Files, LocalFile};

use super::error::{FileError, shown};

/// The folders that callers' paths are confined to. An empty one allows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// Pages get files from there only.
    pub uploads: PathBuf,
    /// Downloads are put there.
    pub downloads: PathBuf,
    /// Most bytes that are sent to a browser which sees no files of this machine.
    pub max_transfer_bytes: u64,
}

/// Where a browser finds the files of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sees {
    /// At their paths.
    Paths,
    /// Perhaps at their paths.
    MaybePaths,
    /// Nowhere.
    Nothing,
}

impl Folders {
    /// The files for a page, on the way on which this browser gets them.
    ///
    /// # Errors
    /// [`FileError::NotAllowed`], [`FileError::NotFound`], [`FileError::TooLarge`].
    pub(crate) async fn uploads(&self, paths: &[String], sees: Sees) -> Result<Files, FileError> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let within = self.upload(path).await?;
            files.push(LocalFile::look(&within).await.map_err(|error| match error {
                ActError::Invalid { .. } => self.not_allowed(path, "is no file that can be read"),
                other => FileError::Failed { url: shown(path), why: other.to_string() },
            })?);
        }
        let bytes = files.iter().map(|file| file.seen.size).sum();
        let limit = self.max_transfer_bytes;
        match sees {
            Sees::Paths => Ok(Files::ByPath(files)),
            Sees::MaybePaths if bytes > limit => Ok(Files::ByPath(files)),
            Sees::MaybePaths => Ok(Files::PathElseBytes(files)),
            Sees::Nothing if bytes > limit => Err(FileError::TooLarge { bytes, limit }),
            Sees::Nothing => Ok(Files::ByBytes(files)),
        }
    }

    async fn upload(&self, path: &str) -> Result<PathBuf, FileError> {
        let (folder, asked) = (self.uploads.clone(), PathBuf::from(path));
        let found = tokio::task::spawn_blocking(move || find(&folder, &asked)).await;
        match found.unwrap_or(Err(Refused::Outside("could not be looked for"))) {
            Ok(found) => Ok(found),
            Err(Refused::Missing) => Err(FileError::NotFound { path: shown(path) }),
            Err(Refused::Outside(why)) => Err(self.not_allowed(path, why)),
        }
    }

    fn not_allowed(&self, path: &str, why: &'static str) -> FileError {
        FileError::NotAllowed { path: shown(path), why, folder: self.uploads.display().to_string() }
    }

    /// Where a download is put that is to have this path; its folder is made.
    ///
    /// # Errors
    /// [`FileError::OutsideDownloads`].
    pub(crate) async fn download(&self, path: &str) -> Result<PathBuf, FileError> {
        let (folder, asked) = (self.downloads.clone(), PathBuf::from(path));
        let made = tokio::task::spawn_blocking(move || make_room(&folder, &asked)).await;
        made.unwrap_or(Err("it could not be looked at")).map_err(|why| FileError::OutsideDownloads { why })
    }
}

enum Refused {
    Missing,
    Outside(&'static str),
}

const OUTSIDE: &str = "is not in that folder";
const LINK: &str = "leads through a symbolic link";

/// A file of `folder`, by its path in it or its whole path.
fn find(folder: &Path, asked: &Path) -> Result<PathBuf, Refused> {
    let root = root(folder).map_err(Refused::Outside)?;
    let path = within(&root, asked).ok_or(Refused::Outside(OUTSIDE))?;
    match path.canonicalize() {
        Ok(found) if found == path => Ok(found),
        Ok(_) => Err(Refused::Outside(LINK)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Err(Refused::Missing),
        Err(_) => Err(Refused::Outside("cannot be read")),
    }
}

fn make_room(folder: &Path, asked: &Path) -> Result<PathBuf, &'static str> {
    let root = root(folder)?;
    let path = within(&root, asked).ok_or("it is not in that folder")?;
    let parent = path.parent().filter(|parent| parent.starts_with(&root.real)).ok_or("it names no file")?;
    // What is made below a link would be made where it leads.
    let there = parent.ancestors().find_map(|up| up.canonicalize().ok().map(|real| real == up));
    if there != Some(true) {
        return Err("it leads through a symbolic link");
    }
    make_private(parent).map_err(|_| "its folder could not be made")?;
    match path.symlink_metadata() {
        Ok(about) if about.is_file() => Ok(path),
        Ok(_) => Err("what is there is no file"),
        Err(_) => Ok(path),
    }
}

/// A folder as it was configured, and as it really is.
struct Root {
    named: PathBuf,
    real: PathBuf,
}

fn root(folder: &Path) -> Result<Root, &'static str> {
    if folder.as_os_str().is_empty() {
        return Err("is not allowed: no folder is configured");
    }
    make_private(folder).map_err(|_| "cannot be looked for: the folder could not be made")?;
    let real = folder.canonicalize().map_err(|_| "cannot be looked for: the folder could not be read")?;
    Ok(Root { named: folder.to_owned(), real })
}

fn within(root: &Root, asked: &Path) -> Option<PathBuf> {
    let below = if asked.is_absolute() {
        asked.strip_prefix(&root.real).or_else(|_| asked.strip_prefix(&root.named)).ok()?
    } else {
        asked
    };
    let mut path = root.real.clone();
    for part in below.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (path != root.real).then_some(path)
}

/// What pages give and get is nobody else's business.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Stage {
        place: tempfile::TempDir,
        folders: Folders,
    }

    impl Stage {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let at = |name: &str| place.path().join(name);
            std::fs::create_dir_all(at("up/sub")).unwrap();
            std::fs::write(at("up/a.txt"), "12345").unwrap();
            std::fs::write(at("up/sub/b.txt"), "b").unwrap();
            std::fs::write(at("secret.txt"), "no").unwrap();
            symlink(at("secret.txt"), at("up/link.txt")).unwrap();
            symlink(place.path(), at("up/out")).unwrap();
            symlink(at("up/a.txt"), at("up/inner.txt")).unwrap();
            let folders = Folders { uploads: at("up"), downloads: at("down"), max_transfer_bytes: 4 };
            Self { place, folders }
        }

        async fn kind(&self, path: &str) -> &'static str {
            let given = self.folders.uploads(&[path.to_owned()], Sees::Paths).await;
            given.map_or_else(|error| error.kind(), |_| "ok")
        }
    }

    #[tokio::test]
    async fn only_files_of_the_uploads_folder_are_given_and_no_link_leads_out_of_it() {
        let stage = Stage::new();
        let whole = |name: &str| stage.place.path().join(name).display().to_string();
        for (path, kind) in [
            ("a.txt", "ok"),
            ("./sub/b.txt", "ok"),
            (&*whole("up/a.txt"), "ok"),
            ("missing.txt", "file_not_found"),
            ("sub", "file_not_allowed"),
            ("", "file_not_allowed"),
            ("../secret.txt", "file_not_allowed"),
            ("sub/../a.txt", "file_not_allowed"),
            ("link.txt", "file_not_allowed"),
            ("inner.txt", "file_not_allowed"),
            ("out/secret.txt", "file_not_allowed"),
            (&*whole("secret.txt"), "file_not_allowed"),
            // Whether it is there is not told.
            (&*whole("nothing.txt"), "file_not_allowed"),
            ("/etc/passwd", "file_not_allowed"),
        ] {
            assert_eq!(stage.kind(path).await, kind, "{path:?}");
        }
        let none = Folders::default().uploads(&["a.txt".into()], Sees::Paths).await.unwrap_err();
        assert!(none.to_string().contains("no folder is configured"), "{none}");
    }

    #[tokio::test]
    async fn what_a_browser_sees_decides_how_it_gets_them() {
        let stage = Stage::new();
        let given = async |path: &str, sees| stage.folders.uploads(&[path.to_owned()], sees).await;
        assert!(matches!(given("sub/b.txt", Sees::Paths).await, Ok(Files::ByPath(_))));
        assert!(matches!(given("sub/b.txt", Sees::MaybePaths).await, Ok(Files::PathElseBytes(_))));
        assert!(matches!(given("sub/b.txt", Sees::Nothing).await, Ok(Files::ByBytes(_))));
        assert!(matches!(given("a.txt", Sees::MaybePaths).await, Ok(Files::ByPath(_))));
        let large = given("a.txt", Sees::Nothing).await.unwrap_err();
        assert_eq!(large, FileError::TooLarge { bytes: 5, limit: 4 });
    }

    #[tokio::test]
    async fn downloads_stay_in_their_folder() {
        let stage = Stage::new();
        let down = stage.folders.downloads.clone();
        std::fs::create_dir(&down).unwrap();
        symlink(stage.place.path(), down.join("out")).unwrap();
        symlink(stage.place.path().join("secret.txt"), down.join("link.txt")).unwrap();
        let real = down.canonicalize().unwrap();
        let whole = down.join("x/y.bin").display().to_string();
        for (path, put) in [("a.bin", "a.bin"), ("deep/er/a.bin", "deep/er/a.bin"), (&*whole, "x/y.bin")] {
            assert_eq!(stage.folders.download(path).await.unwrap(), real.join(put));
            assert!(real.join(put).parent().unwrap().is_dir());
        }
        for path in ["", ".", "../a", "/etc/a", "out/a", "out/new/a", "link.txt", "deep"] {
            let why = stage.folders.download(path).await.unwrap_err().to_string();
            assert!(why.starts_with("Invalid path: must stay within downloads directory"), "{path} {why}");
        }
        assert!(!stage.place.path().join("new").exists());
    }
}
