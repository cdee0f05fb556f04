//! The verbs about what pages say, hold and believe.

use std::process::ExitCode;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tabvisor::config::Loaded;

use super::client::Client;
use super::failure::Failure;
use super::flags::Common;
use super::flags_of_acts::OnTab;
use super::flags_of_state::{Cookies, Kind, Set, Storage, Verb};
use super::output::{self, clean};
use super::pretty::pretty;
use super::verbs::read;

/// One call, and how its answer is printed.
struct Call {
    on: OnTab,
    path: Vec<&'static str>,
    ask: Ask,
    print: fn(&Value) -> Vec<String>,
}

enum Ask {
    /// With a query.
    Get(Vec<(&'static str, String)>),
    /// With a body.
    Post(Value),
}

/// Asks what a verb asks, and prints it.
pub(super) async fn state(common: &Common, loaded: &Loaded, verb: Verb) -> Result<ExitCode, Failure> {
    let Call { on, path, ask, print } = call(verb)?;
    // Without a budget of ours the service's own holds, which is at most its largest one.
    let budget = on.timeout_ms.map_or_else(|| loaded.config.limits.max_budget(), Duration::from_millis);
    let client = Client::new(common, loaded)?;
    let text = match ask {
        Ask::Get(mut query) => {
            query.extend(on.tab().map(|tab| ("targetId", tab.to_owned())));
            query.extend(on.timeout_ms.map(|ms| ("timeoutMs", ms.to_string())));
            client.get(&path, &query, budget).await?
        }
        Ask::Post(mut body) => {
            if let Some(tab) = on.tab() {
                body["targetId"] = tab.into();
            }
            if let Some(ms) = on.timeout_ms {
                body["timeoutMs"] = ms.into();
            }
            client.call(Method::POST, &path, Some(body), budget).await?
        }
    };
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let answer: Value = read(&text)?;
    for line in print(&answer) {
        output::line(&clean(&line));
    }
    if let Some(note) = missing(&answer) {
        output::note(&note);
    }
    Ok(ExitCode::SUCCESS)
}

fn call(verb: Verb) -> Result<Call, Failure> {
    let get = |on, path: &[&'static str], query: Vec<_>, print| Call {
        on,
        path: path.to_vec(),
        ask: Ask::Get(query),
        print,
    };
    let post = |on, path: &[&'static str], body, print| Call {
        on,
        path: path.to_vec(),
        ask: Ask::Post(body),
        print,
    };
    let truth = |name, truth: bool| truth.then(|| (name, "true".to_owned()));
    Ok(match verb {
        Verb::Console { level, on } => {
            get(on, &["console"], level.map(|level| ("level", level)).into_iter().collect(), messages)
        }
        Verb::Errors { clear, on } => {
            get(on, &["errors"], truth("clear", clear).into_iter().collect(), errors)
        }
        Verb::Requests { filter, clear, on } => {
            let query = filter.map(|filter| ("filter", filter)).into_iter().chain(truth("clear", clear));
            get(on, &["requests"], query.collect(), requests)
        }
        Verb::ResponseBody { address, max_chars, on } => {
            let body = json!({ "url": address, "maxChars": max_chars });
            post(on, &["response", "body"], body, response)
        }
        Verb::Cookies { what: None, on } => get(on, &["cookies"], Vec::new(), cookies),
        Verb::Cookies { what: Some(Cookies::Clear), on } => post(on, &["cookies", "clear"], json!({}), done),
        Verb::Cookies { what: Some(Cookies::Set { name, value, place }), on } => {
            let cookie = json!({ "name": name, "value": value, "url": place });
            post(on, &["cookies", "set"], json!({ "cookie": cookie }), done)
        }
        Verb::Storage { kind, what } => {
            let kind = match kind {
                Kind::Local => "local",
                Kind::Session => "session",
            };
            match what {
                Storage::Get { key, on } => {
                    get(on, &["storage", kind], key.map(|key| ("key", key)).into_iter().collect(), values)
                }
                Storage::Set { key, value, on } => {
                    post(on, &["storage", kind, "set"], json!({ "key": key, "value": value }), done)
                }
                Storage::Clear { on } => post(on, &["storage", kind, "clear"], json!({}), done),
            }
        }
        Verb::Set { what } => {
            let (on, what, body) = set(what)?;
            post(on, &["set", what], body, done)
        }
    })
}

fn set(what: Set) -> Result<(OnTab, &'static str, Value), Failure> {
    Ok(match what {
        Set::Offline { state, on } => (on, "offline", json!({ "offline": state == "on" })),
        Set::Headers { json, on } => {
            let headers: Value = serde_json::from_str(&json)
                .map_err(|why| Failure::usage(format!("the headers are no JSON: {why}")))?;
            (on, "headers", json!({ "headers": headers }))
        }
        Set::Credentials { username, password, clear, on } => {
            let body = if clear {
                json!({ "clear": true })
            } else {
                json!({ "username": username, "password": password })
            };
            (on, "credentials", body)
        }
        Set::Geo { latitude, longitude, accuracy, origin, clear, on } => {
            let body = if clear {
                json!({ "clear": true })
            } else {
                json!({ "latitude": latitude, "longitude": longitude, "accuracy": accuracy, "origin": origin })
            };
            (on, "geolocation", body)
        }
        Set::Media { scheme, on } => (on, "media", json!({ "colorScheme": scheme })),
        Set::Timezone { zone, on } => (on, "timezone", json!({ "timezoneId": zone })),
        Set::Locale { locale, on } => (on, "locale", json!({ "locale": locale })),
        Set::Device { name, on } => (on, "device", json!({ "name": name })),
    })
}

/// What is not among the rows.
fn missing(answer: &Value) -> Option<String> {
    let count = |name: &str| answer[name].as_u64().filter(|count| *count > 0);
    let parts = [
        count("dropped").map(|count| format!("{count} older ones made room")),
        count("lost").map(|count| format!("{count} were too many to take")),
        count("gaps").map(|count| format!("nothing was heard for a while, {count} times")),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("missing: {}", parts.join(", ")))
}

fn lines(answer: &Value, name: &str, line: impl Fn(&Value) -> String) -> Vec<String> {
    answer[name].as_array().into_iter().flatten().map(line).collect()
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

fn messages(answer: &Value) -> Vec<String> {
    lines(answer, "messages", |row| {
        format!("{} [{}] {}", text(row, "timestamp"), text(row, "type"), text(row, "text"))
    })
}

fn errors(answer: &Value) -> Vec<String> {
    lines(answer, "errors", |row| {
        let said = row["stack"].as_str().unwrap_or_else(|| text(row, "message"));
        format!("{} {said}", text(row, "timestamp"))
    })
}

fn requests(answer: &Value) -> Vec<String> {
    lines(answer, "requests", |row| {
        let end = row["failureText"].as_str().map(str::to_owned);
        let end = end.or_else(|| row["status"].as_u64().map(|status| status.to_string()));
        let end = end.unwrap_or_else(|| "...".into());
        let [id, method, kind, url] = ["id", "method", "resourceType", "url"].map(|name| text(row, name));
        format!("{id} {method} {end} {kind} {url}")
    })
}

fn cookies(answer: &Value) -> Vec<String> {
    lines(answer, "cookies", |row| {
        let [name, value, domain, path] = ["name", "value", "domain", "path"].map(|name| text(row, name));
        format!("{name}={value} ({domain}{path})")
    })
}

fn response(answer: &Value) -> Vec<String> {
    vec![text(&answer["response"], "body").to_owned()]
}

fn values(answer: &Value) -> Vec<String> {
    vec![pretty(&answer["values"].to_string())]
}

fn done(_: &Value) -> Vec<String> {
    vec!["done".into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines_and_what_is_missing_is_said() {
        let row = json!({ "id": "r1", "method": "GET", "resourceType": "fetch", "url": "http://a/", "status": 404 });
        let answer = json!({ "requests": [row], "dropped": 2, "lost": 0, "gaps": 1 });
        assert_eq!(requests(&answer), ["r1 GET 404 fetch http://a/"]);
        let said = missing(&answer).unwrap();
        assert_eq!(said, "missing: 2 older ones made room, nothing was heard for a while, 1 times");
        assert_eq!(missing(&json!({ "ok": true })), None);
    }
}
