//! `GET /openapi.json` and `GET /docs`: the API described, for programs and for people.
//!
//! | file | holds |
//! |---|---|
//! | `words` | in which words it is described |
//! | `pages`, `browsers` | the operations |
//! | `shapes` | what answers look like |
//! | `document`, `page` | both made of these |

mod browsers;
mod document;
mod page;
mod pages;
mod shapes;
mod words;

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::json;

static DOCUMENT: LazyLock<Value> = LazyLock::new(document::rendered);
static PAGE: LazyLock<String> =
    LazyLock::new(|| page::page(&DOCUMENT["info"], document::operations(), shapes::SHAPES));

/// The document.
pub(super) async fn openapi() -> Response {
    json(StatusCode::OK, &*DOCUMENT)
}

/// The same to read. It loads nothing and runs nothing.
pub(super) async fn docs() -> Response {
    let head = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    (head, PAGE.as_str()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Of every operation: its method and its path.
    fn told() -> BTreeSet<(String, String)> {
        let paths = DOCUMENT["paths"].as_object().unwrap();
        let all = paths.iter().flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(|method| (method.to_ascii_uppercase(), path.clone()))
        });
        all.collect()
    }

    #[test]
    fn every_route_is_told_and_nothing_else() {
        let served: BTreeSet<_> = crate::http::routes::routes(true)
            .served
            .into_iter()
            .map(|(method, path)| (method.to_owned(), path.to_owned()))
            // Names that a tab or a profile may have, which the path with a name in it tells.
            .filter(|(method, path)| method != "DELETE" || path.contains('{'))
            .collect();
        assert_eq!(told(), served);
    }

    #[test]
    fn every_shape_that_is_named_is_there() {
        fn names(value: &Value, into: &mut BTreeSet<String>) {
            match value {
                Value::Object(members) => {
                    if let Some(Value::String(name)) = members.get("$ref") {
                        into.insert(name.rsplit('/').next().unwrap().to_owned());
                    }
                    members.values().for_each(|value| names(value, into));
                }
                Value::Array(items) => items.iter().for_each(|value| names(value, into)),
                _ => {}
            }
        }
        let mut named = BTreeSet::new();
        names(&DOCUMENT, &mut named);
        let there: BTreeSet<_> =
            DOCUMENT["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
        assert!(named.is_subset(&there), "{named:?}");
        assert_eq!(there.difference(&named).collect::<Vec<_>>(), Vec::<&String>::new(), "nobody names them");
    }

    #[test]
    fn the_page_needs_nothing_else() {
        let page = PAGE.as_str();
        for outside in ["<script", "src=", "http://", "https://", "@import", "url("] {
            let named = page.replace("http, https", "").replace("https://example.org", "");
            assert!(!named.contains(outside), "{outside}");
        }
        for (method, path) in told() {
            assert!(page.contains(&format!("<b>{method}</b>{path}<")), "{method} {path}");
        }
    }
}
