//! The files that a page is given, and on which way.

use std::path::{Path, PathBuf};

use super::error::ActError;
use super::input_seen::FileSeen;

/// Files for a file input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Files {
    /// Chromium reads them at their paths. Right where it runs on this machine.
    ByPath(Vec<LocalFile>),
    /// By their paths, and by their bytes if Chromium turns out to see others there.
    PathElseBytes(Vec<LocalFile>),
    /// Their bytes go into the page: for a Chromium that sees none of our files.
    ByBytes(Vec<LocalFile>),
    /// Files of the machine that Chromium runs on, which nobody can look at from here.
    Remote(Vec<String>),
}

/// A file of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalFile {
    /// Where it is.
    pub path: PathBuf,
    /// What the page will have to see of it.
    pub seen: FileSeen,
}

impl LocalFile {
    /// Looks at a file: Chromium would take a path of none and give the page an empty file
    /// (measured).
    ///
    /// # Errors
    /// [`ActError::Invalid`] for what is no file that can be read.
    pub async fn look(path: &Path) -> Result<Self, ActError> {
        let invalid = |why: &str| {
            let shown: String = path.display().to_string().chars().take(200).collect();
            ActError::Invalid { field: "paths", why: format!("{shown:?} {why}") }
        };
        if !path.is_absolute() {
            return Err(invalid("is no absolute path"));
        }
        let unreadable = |_| invalid("is not there or cannot be read");
        let about = tokio::fs::metadata(path).await.map_err(unreadable)?;
        if !about.is_file() {
            return Err(invalid("is no file"));
        }
        drop(tokio::fs::File::open(path).await.map_err(unreadable)?);
        match path.file_name().and_then(|name| name.to_str()) {
            Some(name) => {
                let seen = FileSeen { name: name.to_owned(), size: about.len() };
                Ok(Self { path: path.to_owned(), seen })
            }
            None => Err(invalid("has no name that a page could read")),
        }
    }
}

impl Files {
    /// Files of this machine by their paths.
    ///
    /// # Errors
    /// As [`LocalFile::look`].
    pub async fn by_path(paths: &[PathBuf]) -> Result<Self, ActError> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            files.push(LocalFile::look(path).await?);
        }
        Ok(Self::ByPath(files))
    }

    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::ByPath(files) | Self::PathElseBytes(files) | Self::ByBytes(files) => files.len(),
            Self::Remote(paths) => paths.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The paths as Chromium is told them.
    pub(super) fn paths(&self) -> Vec<String> {
        match self {
            Self::ByPath(files) | Self::PathElseBytes(files) | Self::ByBytes(files) => {
                files.iter().map(|file| file.path.display().to_string()).collect()
            }
            Self::Remote(paths) => paths.clone(),
        }
    }

    /// What the page has to see. Of files elsewhere only their names are known.
    pub(super) fn are(&self, seen: &[FileSeen]) -> bool {
        match self {
            Self::ByPath(files) | Self::PathElseBytes(files) | Self::ByBytes(files) => {
                files.iter().map(|file| &file.seen).eq(seen)
            }
            Self::Remote(paths) => paths.iter().map(|path| name_in(path)).eq(seen.iter().map(|it| &*it.name)),
        }
    }

    /// The files in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::ByPath(files) | Self::PathElseBytes(files) | Self::ByBytes(files) => {
                told(files.iter().map(|file| &file.seen))
            }
            Self::Remote(paths) => paths.iter().map(|path| name_in(path)).collect::<Vec<_>>().join(", "),
        }
    }

    /// There may be several only where the input takes several.
    pub(super) fn check_count(&self, multiple: bool) -> Result<(), ActError> {
        if self.len() > 1 && !multiple {
            let why = format!("this input takes one file, got {}", self.len());
            return Err(ActError::Invalid { field: "paths", why });
        }
        Ok(())
    }
}

/// The name of a file elsewhere, with whatever separators paths have there.
fn name_in(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Names and sizes.
pub(super) fn told<'a>(files: impl Iterator<Item = &'a FileSeen>) -> String {
    files.map(|it| format!("{} ({} bytes)", it.name, it.size)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_elsewhere_are_known_by_their_names_only() {
        let files = Files::Remote(vec!["/srv/a.txt".into(), r"C:\data\b.txt".into()]);
        let seen = |names: [&str; 2]| names.map(|name| FileSeen { name: name.into(), size: 7 });
        assert!(files.are(&seen(["a.txt", "b.txt"])));
        assert!(!files.are(&seen(["a.txt", "c.txt"])));
        assert!(!files.are(&seen(["a.txt", "b.txt"])[..1]));
        assert!(files.check_count(false).is_err() && files.check_count(true).is_ok());
    }

    #[tokio::test]
    async fn what_is_no_file_is_refused_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        for (path, words) in [
            (folder.path().join("missing"), "is not there"),
            (folder.path().to_owned(), "is no file"),
            ("one.txt".into(), "is no absolute path"),
        ] {
            let why = Files::by_path(&[path]).await.unwrap_err().to_string();
            assert!(why.starts_with("paths: ") && why.contains(words), "{why}");
        }
    }
}
