//! The document as one page of HTML that needs nothing else. Pure.

use std::fmt::Write as _;

use serde_json::Value;

use super::words::{Field, Gives, Kind, Operation};

const HEAD: &str = r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>tabvisor: the HTTP API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root{color-scheme:light dark;--line:#8884;--soft:#8882}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:3rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:0;display:inline}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.5rem .75rem}
summary{cursor:pointer}summary span{opacity:.75}code,pre{font:14px/1.5 ui-monospace,monospace}
b{display:inline-block;min-width:4rem}ul{list-style:none;padding-left:1.25rem;border-left:1px solid var(--line)}
li>code{background:var(--soft);padding:0 .3em;border-radius:3px}em{opacity:.75}
</style></head><body>"#;

/// All operations by their groups, then the shapes.
pub(super) fn page(
    title: &Value,
    operations: impl Iterator<Item = &'static Operation>,
    shapes: &[(&str, &str, Kind)],
) -> String {
    let mut page = String::from(HEAD);
    let _ = write!(
        page,
        "<h1>tabvisor {}</h1><p>{}</p><p>As a program reads it: <a href=\"openapi.json\">openapi.json</a></p>",
        escaped(title["version"].as_str().unwrap_or_default()),
        escaped(title["description"].as_str().unwrap_or_default()),
    );
    let mut group = "";
    for it in operations {
        if it.group != group {
            group = it.group;
            let _ = write!(page, "<h2>{}</h2>", escaped(group));
        }
        operation(&mut page, it);
    }
    page.push_str("<h2>shapes</h2>");
    for (name, about, kind) in shapes {
        let _ = write!(
            page,
            "<details id=\"{name}\"><summary><h3><code>{name}</code></h3> <span>{}</span></summary>",
            escaped(about)
        );
        members(&mut page, kind);
        page.push_str("</details>");
    }
    page.push_str("</body></html>\n");
    page
}

fn operation(page: &mut String, it: &Operation) {
    let _ = write!(
        page,
        "<details><summary><h3><code><b>{}</b>{}</code></h3> <span>{}</span></summary><p>{}</p>",
        it.method.name(),
        escaped(it.path),
        escaped(it.about),
        escaped(it.more)
    );
    if !it.query.is_empty() {
        page.push_str("<p>Query</p>");
        fields(page, it.query);
    }
    if let Some(body) = it.body.as_ref().filter(|body| !matches!(body, Kind::Object([]))) {
        page.push_str("<p>Body</p>");
        members(page, body);
    }
    match &it.gives {
        Gives::Json(kind) => {
            page.push_str("<p>Answer</p>");
            members(page, kind);
        }
        Gives::Other(content_type) => {
            let _ = write!(page, "<p>Answer: {content_type}</p>");
        }
    }
    page.push_str("</details>");
}

fn fields(page: &mut String, all: &[Field]) {
    page.push_str("<ul>");
    for field in all {
        let needed = if field.required { "" } else { ", optional" };
        let _ = write!(
            page,
            "<li><code>{}</code> <em>{}{needed}</em> {}",
            escaped(field.name),
            word(&field.kind),
            escaped(field.about)
        );
        if is_nested(&field.kind) {
            members(page, &field.kind);
        }
        page.push_str("</li>");
    }
    page.push_str("</ul>");
}

fn is_nested(kind: &Kind) -> bool {
    match kind {
        Kind::Object(_) | Kind::AllOf(_) | Kind::AnyOf(_) => true,
        Kind::List(kind) | Kind::OrNull(kind) | Kind::MapOf(kind) => is_nested(kind),
        _ => false,
    }
}

fn members(page: &mut String, kind: &Kind) {
    match kind {
        Kind::Object(all) => fields(page, all),
        Kind::List(kind) | Kind::OrNull(kind) | Kind::MapOf(kind) => members(page, kind),
        Kind::AllOf(kinds) => kinds.iter().for_each(|kind| members(page, kind)),
        Kind::AnyOf(kinds) => {
            page.push_str("<ul>");
            for kind in *kinds {
                page.push_str("<li>");
                members(page, kind);
                page.push_str("</li>");
            }
            page.push_str("</ul>");
        }
        other => {
            let _ = write!(page, "<p>{}</p>", word(other));
        }
    }
}

fn word(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Truth => "true or false".into(),
        Kind::Whole(from, _) => format!("integer from {from}"),
        Kind::Number => "number".into(),
        Kind::OneOf(words) => escaped(&words.join(" | ")),
        Kind::OrNull(kind) => format!("{} or null", word(kind)),
        Kind::Any => "any JSON".into(),
        Kind::List(kind) => format!("list of {}", word(kind)),
        Kind::MapOf(kind) => format!("object of {}", word(kind)),
        Kind::Object(_) | Kind::AllOf(_) | Kind::AnyOf(_) => "object".into(),
        Kind::Shape(name) => format!("<a href=\"#{name}\">{name}</a>"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
