//! Finding the Chromium executable.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::error::LaunchError;

/// The environment variable that names the executable.
const VARIABLE: &str = "TABVISOR_CHROMIUM";

/// The names under which distributions and vendors install it, the most likely first.
const NAMES: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "headless_shell",
    "chrome-headless-shell",
    "headless-shell",
];

/// Places that are not on every `PATH`: a service manager's is short.
const PLACES: [&str; 4] = [
    "/usr/bin/chromium",
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/opt/google/chrome-headless-shell/chrome-headless-shell",
];

/// Finds Chromium: `explicit`, else the variable `TABVISOR_CHROMIUM`, else the usual names on `PATH`.
///
/// A bare name (no slash) is looked up on `PATH`. A name that was given is never replaced by
/// another browser.
///
/// # Errors
/// [`LaunchError::BadExecutable`] when what was named cannot be run, [`LaunchError::NotFound`]
/// with every place that was tried when nothing was named.
pub fn find_chromium(explicit: Option<&Path>) -> Result<PathBuf, LaunchError> {
    let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    find(explicit, variable.as_deref().map(Path::new), &path, &PLACES)
}

fn find(
    explicit: Option<&Path>,
    variable: Option<&Path>,
    path: &OsStr,
    places: &[&str],
) -> Result<PathBuf, LaunchError> {
    if let Some(given) = explicit {
        return named(given, "--chromium", path);
    }
    if let Some(given) = variable {
        return named(given, VARIABLE, path);
    }
    if let Some(found) = NAMES.iter().find_map(|name| on_path(Path::new(name), path)) {
        return Ok(found);
    }
    if let Some(found) = places.iter().map(Path::new).find(|place| runnable(place).is_ok()) {
        return Ok(found.to_owned());
    }
    let on = |name: &&str| format!("{name} on PATH");
    let looked = [VARIABLE.to_owned()].into_iter().chain(NAMES.iter().map(on));
    Err(LaunchError::NotFound { looked: looked.chain(places.iter().map(ToString::to_string)).collect() })
}

fn named(given: &Path, named_by: &'static str, path: &OsStr) -> Result<PathBuf, LaunchError> {
    let bad =
        |why: &str| LaunchError::BadExecutable { path: given.to_owned(), named_by, why: why.to_owned() };
    if given.components().count() == 1 && !given.has_root() {
        return on_path(given, path).ok_or_else(|| bad("no such program on PATH"));
    }
    runnable(given).map_err(bad)?;
    // The browser starts elsewhere, so a relative path must not stay one.
    std::path::absolute(given).map_err(|why| bad(&why.to_string()))
}

fn on_path(name: &Path, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| runnable(file).is_ok())
}

fn runnable(file: &Path) -> Result<(), &'static str> {
    match file.metadata() {
        Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => {
            Err("a folder above it may not be entered")
        }
        Err(_) => Err("no such file"),
        Ok(facts) if !facts.is_file() => Err("it is not a file"),
        Ok(_) if access(file, Access::EXEC_OK).is_err() => Err("it is not executable"),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let file = folder.join(name);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn what_is_named_wins_and_is_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().as_os_str();
        let usual = program(home.path(), "chromium", 0o755);
        let other = program(home.path(), "other", 0o755);
        assert_eq!(find(Some(&other), Some(&usual), path, &[]), Ok(other.clone()));
        assert_eq!(find(None, Some(Path::new("other")), path, &[]), Ok(other));
        assert_eq!(find(None, None, path, &[]), Ok(usual));
        let missing = home.path().join("missing");
        let why = find(Some(&missing), None, path, &[]).unwrap_err();
        assert_eq!(
            why.to_string(),
            format!("{} (from --chromium) cannot be run: no such file", missing.display())
        );
        let plain = program(home.path(), "plain", 0o644);
        let why = find(None, Some(&plain), path, &[]).unwrap_err().to_string();
        assert!(why.ends_with("(from TABVISOR_CHROMIUM) cannot be run: it is not executable"), "{why}");
    }

    #[test]
    fn the_order_of_names_beats_the_order_of_folders() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        program(first.path(), "google-chrome", 0o755);
        let best = program(second.path(), "chromium", 0o755);
        let path = std::env::join_paths([first.path(), second.path()]).unwrap();
        assert_eq!(find(None, None, &path, &[]), Ok(best));
    }

    #[test]
    fn nothing_found_says_where_it_looked_and_how_to_install() {
        let why = find(None, None, OsStr::new("relative:"), &["/nowhere/chrome"]).unwrap_err().to_string();
        for part in [
            "TABVISOR_CHROMIUM",
            "google-chrome-stable on PATH",
            "/nowhere/chrome",
            "apt-get install chromium",
        ] {
            assert!(why.contains(part), "{part} in {why}");
        }
    }
}
