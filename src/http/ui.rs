//! `GET /ui`: the web console, from the program itself.
//!
//! The files tell nothing of this machine, so they need no token; what the page shows it asks for with one.
//! The policy lets it load its own files and call this service, and nothing else: what a browsed page calls
//! itself can at worst be ugly.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// A file of the console.
struct File {
    name: &'static str,
    content_type: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($name:literal: $content_type:expr,)*) => {
        &[$(File { name: $name, content_type: $content_type, text: include_str!(concat!("../ui/", $name)) },)*]
    };
}

const PAGE: File = File { name: "index.html", content_type: HTML, text: include_str!("../ui/index.html") };
const FILES: &[File] = files! {
    "console.css": CSS,
    "icon.svg": PICTURE,
    "main.js": SCRIPT,
    "service.js": SCRIPT,
    "stream.js": SCRIPT,
    "dom.js": SCRIPT,
    "tabs.js": SCRIPT,
    "row.js": SCRIPT,
    "dialog.js": SCRIPT,
    "pictures.js": SCRIPT,
    "tree.js": SCRIPT,
    "log.js": SCRIPT,
    "metrics.js": SCRIPT,
    "charts.js": SCRIPT,
};

/// The page.
pub(super) async fn page() -> Response {
    answer(&PAGE)
}

/// What the page is made of.
pub(super) async fn file(name: Result<Path<String>, PathRejection>) -> Result<Response, ApiError> {
    let known = name.ok().and_then(|Path(name)| FILES.iter().find(|file| file.name == name));
    known.map(answer).ok_or_else(|| {
        ApiError::new(StatusCode::NOT_FOUND, "the console has no such file").reason("route_not_found")
    })
}

/// With a slash at its end the page would look for its files in another folder. Relative, since a host
/// program may have put the routes below a path of its own.
pub(super) async fn without_slash() -> Response {
    (StatusCode::PERMANENT_REDIRECT, [(LOCATION, "../ui")]).into_response()
}

fn answer(file: &File) -> Response {
    let head = [
        (CONTENT_TYPE, file.content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "same-origin"),
        // The next version of the program has others under the same names.
        (CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    (head, file.text).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all() -> impl Iterator<Item = &'static File> {
        std::iter::once(&PAGE).chain(FILES)
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ui");
        let there: BTreeSet<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(all().map(|file| file.name.to_owned()).collect::<BTreeSet<_>>(), there);
    }

    #[test]
    fn nothing_outside_is_named_and_nothing_is_read_as_markup() {
        for file in all() {
            // The name of a namespace is no address.
            let text = file.text.replace("http://www.w3.org/2000/svg", "");
            for bad in
                ["http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "style=\""]
            {
                assert!(!text.contains(bad), "{}: {bad}", file.name);
            }
        }
    }

    #[test]
    fn every_module_that_is_asked_for_is_there() {
        for file in FILES.iter().filter(|file| file.content_type == SCRIPT) {
            for line in file.text.lines().filter(|line| line.starts_with("import ")) {
                let name = line.split('\'').nth(1).unwrap().strip_prefix("./").unwrap();
                assert!(FILES.iter().any(|file| file.name == name), "{}: {name}", file.name);
            }
        }
    }
}
