//! Which keys there are and what kind of value each takes, read off the defaults, so that no list
//! has to be kept beside the structs.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Config, ProfileConfig};

/// Stands for the name of a profile among the keys; no profile may have it.
const ANY: &str = "NAME";

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Flag,
    Texts,
    Numbers,
}

/// All keys, with dots (`limits.tabs`).
#[derive(Clone, Debug)]
pub(super) struct Shape(BTreeMap<String, Kind>);

impl Shape {
    pub(super) fn of(defaults: &Config) -> Self {
        let mut keys = BTreeMap::new();
        let mut shown = defaults.clone();
        shown.profiles.insert(ANY.into(), ProfileConfig::default());
        for (key, value) in leaves(&shown) {
            let kind = match value {
                Json::Number(_) => Kind::Number,
                Json::Bool(_) => Kind::Flag,
                Json::Array(items) if items.iter().any(Json::is_number) => Kind::Numbers,
                Json::Array(_) => Kind::Texts,
                // What may be absent is text: paths, an address, a token.
                _ => Kind::Text,
            };
            keys.insert(key, kind);
        }
        Self(keys)
    }

    pub(super) fn kind(&self, key: &str) -> Option<Kind> {
        self.0.get(&general(key)).copied()
    }

    /// Whether other keys are below it.
    pub(super) fn is_section(&self, key: &str) -> bool {
        let key = general(key);
        self.0.keys().any(|known| known.strip_prefix(&key).is_some_and(|rest| rest.starts_with('.')))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The key with the name of its profile, if it is of one, replaced by [`ANY`].
fn general(key: &str) -> String {
    match key.strip_prefix("profiles.") {
        None => key.to_owned(),
        Some(below) => match below.split_once('.') {
            Some((_, field)) => format!("profiles.{ANY}.{field}"),
            None => format!("profiles.{ANY}"),
        },
    }
}

/// Every key of a configuration with its value; secrets are hidden in it.
pub(super) fn leaves(config: &Config) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    // A path that is no UTF-8 cannot be shown; then nothing is.
    collect(String::new(), serde_json::to_value(config).unwrap_or_default(), &mut found);
    found
}

fn collect(key: String, value: Json, found: &mut Vec<(String, Json)>) {
    match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                let key = if key.is_empty() { name } else { format!("{key}.{name}") };
                collect(key, value, found);
            }
        }
        leaf => found.push((key, leaf)),
    }
}

/// The name among `known` that is nearest to `given`, if one is near enough to be meant.
pub(super) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let distance = |key: &str| {
        let whole = strsim::damerau_levenshtein(given, key);
        // A key in the wrong section is found by its own name.
        if last(given) == last(key) { whole.min(1) } else { whole }
    };
    let (best, key) = known.map(|key| (distance(key), key)).min()?;
    (best <= 1 + given.len() / 5).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_defaults() {
        let shape = Shape::of(&Config::default());
        assert_eq!(shape.kind("limits.tabs"), Some(Kind::Number));
        assert_eq!(shape.kind("browser.no_sandbox"), Some(Kind::Flag));
        assert_eq!(shape.kind("browser.chromium"), Some(Kind::Text));
        assert_eq!(shape.kind("browser.args"), Some(Kind::Texts));
        assert_eq!(shape.kind("browser.window_size"), Some(Kind::Numbers));
        assert_eq!(shape.kind("state_dir"), Some(Kind::Text));
        assert_eq!(shape.kind("limits"), None);
        assert_eq!(shape.kind("profiles.work.headed"), Some(Kind::Flag));
        assert_eq!(shape.kind("profiles.work.cdp_url"), Some(Kind::Text));
        assert_eq!((shape.kind("profiles.work"), shape.kind("profiles.work.x")), (None, None));
        assert!(shape.is_section("profiles") && shape.is_section("profiles.work"));
        assert!(shape.is_section("limits") && !shape.is_section("limit"));
    }

    #[test]
    fn the_nearest_key_is_the_one_that_was_meant() {
        let shape = Shape::of(&Config::default());
        let meant = |given| nearest(given, shape.keys());
        assert_eq!(meant("limits.tab").as_deref(), Some("limits.tabs"));
        assert_eq!(meant("server.headed").as_deref(), Some("browser.headed"));
        assert_eq!(meant("budgets.evalute_ms").as_deref(), Some("budgets.evaluate_ms"));
        assert_eq!(meant("colour"), None);
    }
}
