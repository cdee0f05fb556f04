//! The configuration in layers: defaults, a TOML file, `TABVISOR_*` variables, flags. Each value
//! remembers where it came from.

use std::fmt;
use std::path::{Path, PathBuf};

use figment::error::{Actual, Kind as Problem};
use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Tag, Value};
use figment::{Figment, Metadata, Profile, Provider};
use serde::Serialize;
use serde_json::Value as Json;

use super::shape::{Shape, leaves, nearest};
use super::{Config, ConfigError, variables};

/// Where a configuration comes from. It has no debug output: a token may be in it.
#[derive(Clone, Default)]
pub struct Layers {
    file: Option<PathBuf>,
    variables: Vec<(String, String)>,
    flags: Vec<(&'static str, &'static str, Value)>,
}

/// A configuration and where its values came from.
#[derive(Clone)]
pub struct Loaded {
    /// The configuration; checked.
    pub config: Config,
    figment: Figment,
}

/// One value of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its key, e.g. `limits.tabs`.
    pub key: String,
    /// Its value; secrets are hidden.
    pub value: Json,
    /// `default`, a file, a variable or a flag.
    pub source: String,
}

impl Layers {
    /// Nothing but the defaults so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// A TOML file. It must be there.
    #[must_use]
    pub fn file(mut self, file: Option<&Path>) -> Self {
        self.file = file.map(Path::to_owned);
        self
    }

    /// The variables among `variables` whose names begin with `TABVISOR_`; empty ones do not count.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let ours = |(name, value): &(String, String)| variables::is_ours(name) && !value.is_empty();
        self.variables = variables.into_iter().filter(ours).collect();
        self.variables.sort();
        self
    }

    /// A flag of the command line that sets `key`.
    #[must_use]
    pub fn flag(mut self, flag: &'static str, key: &'static str, value: impl Serialize) -> Self {
        let value = Value::serialize(value).unwrap_or_else(|why| Value::from(why.to_string()));
        self.flags.push((flag, key, value));
        self
    }

    /// Puts the layers on top of each other.
    ///
    /// # Errors
    /// [`ConfigError`]: a key or variable that does not exist, with the nearest one that does; a
    /// value that cannot be, with its source.
    pub fn load(self) -> Result<Loaded, ConfigError> {
        let defaults = Config::default();
        let shape = Shape::of(&defaults);
        let mut figment = Figment::new();
        let defaults =
            Value::serialize(&defaults).map_err(|why| ConfigError::invalid("defaults", why.to_string()))?;
        figment = figment.merge(Layer::whole("default", defaults.into_dict().unwrap_or_default()));
        if let Some(path) = &self.file {
            let dict = read_file(path)?;
            let name = path.display().to_string();
            known(&shape, &name, "", &dict)?;
            figment = figment.merge(Layer::whole(name, dict));
        }
        for variables::Setting { variable, key, value } in variables::settings(&shape, &self.variables)? {
            figment = figment.merge(Layer::one(variable, &key, value));
        }
        for (flag, key, value) in self.flags {
            figment = figment.merge(Layer::one(flag, key, value));
        }
        let config: Config = figment.extract().map_err(|error| problem(&error))?;
        config.check().map_err(|error| error.sourced(|key| source(&figment, key)))?;
        Ok(Loaded { config, figment })
    }
}

impl Loaded {
    /// Every value with its source, by key.
    pub fn rows(&self) -> Vec<Row> {
        let rows = leaves(&self.config).into_iter();
        rows.map(|(key, value)| Row { source: self.source(&key), key, value }).collect()
    }

    /// Where the value of `key` came from.
    pub fn source(&self, key: &str) -> String {
        source(&self.figment, key).unwrap_or_else(|| "default".into())
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Values from one place.
struct Layer {
    name: String,
    dict: Dict,
}

impl Layer {
    fn whole(name: impl Into<String>, mut dict: Dict) -> Self {
        // Either of the two stands for the secret, so the higher layer's wins over both.
        if let Some(Value::Dict(_, server)) = dict.get_mut("server") {
            match (server.contains_key("token"), server.contains_key("token_file")) {
                (true, false) => drop(server.insert("token_file".into(), none())),
                (false, true) => drop(server.insert("token".into(), none())),
                _ => {}
            }
        }
        Self { name: name.into(), dict }
    }

    fn one(name: impl Into<String>, key: &str, value: Value) -> Self {
        Self::whole(name, figment::util::nest(key, value).into_dict().unwrap_or_default())
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}

fn none() -> Value {
    Value::Empty(Tag::Default, figment::value::Empty::None)
}

fn source(figment: &Figment, key: &str) -> Option<String> {
    figment.find_metadata(key).map(|metadata| metadata.name.to_string())
}

fn read_file(path: &Path) -> Result<Dict, ConfigError> {
    let bad = |why: String| ConfigError::File { path: path.to_owned(), why };
    let text = std::fs::read_to_string(path).map_err(|why| bad(why.to_string()))?;
    let data = Toml::string(&text).data().map_err(|why| bad(why.kind.to_string()))?;
    Ok(data.into_values().next().unwrap_or_default())
}

/// Whether all keys of a file exist.
fn known(shape: &Shape, file: &str, section: &str, dict: &Dict) -> Result<(), ConfigError> {
    for (name, value) in dict {
        let key = if section.is_empty() { name.clone() } else { format!("{section}.{name}") };
        match value {
            Value::Dict(_, below) if shape.is_section(&key) => known(shape, file, &key, below)?,
            _ if shape.is_section(&key) => {
                let given_by = Some(file.to_owned());
                let why = format!("is a section: write [{key}] and its keys below");
                return Err(ConfigError::Invalid { key, why, given_by });
            }
            _ if shape.kind(&key).is_some() => {}
            _ => {
                let sections = shape.keys().filter_map(|key| key.split_once('.')).map(|(section, _)| section);
                let nearest = nearest(&key, shape.keys().chain(sections));
                return Err(ConfigError::Unknown {
                    what: "key",
                    key,
                    given_by: Some(file.to_owned()),
                    nearest,
                });
            }
        }
    }
    Ok(())
}

fn problem(error: &figment::Error) -> ConfigError {
    let why = match &error.kind {
        Problem::InvalidType(Actual::Other(actual), expected) => format!("must be {expected}, got {actual}"),
        Problem::InvalidType(actual, expected) | Problem::InvalidValue(actual, expected) => {
            format!("must be {expected}, got {actual}")
        }
        other => other.to_string(),
    };
    let given_by = error.metadata.as_ref().map(|metadata| metadata.name.to_string());
    ConfigError::Invalid { key: error.path.join("."), why, given_by }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Layers {
        Layers::new().variables(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())))
    }

    fn why(layers: Layers) -> String {
        layers.load().unwrap_err().to_string()
    }

    fn file(text: &str) -> (tempfile::NamedTempFile, String) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let name = file.path().display().to_string();
        (file, name)
    }

    #[test]
    fn higher_layers_win_and_every_value_knows_its_source() {
        let (toml, name) = file("[limits]\ntabs = 5\ndials = 6\n[budgets]\naction_ms = 7\n");
        let layers = with(&[("TABVISOR_LIMITS__DIALS", "8"), ("TABVISOR_CHROMIUM", "/c"), ("PATH", "x")]);
        let loaded = layers
            .file(Some(toml.path()))
            .flag("--chromium", "browser.chromium", "/flag")
            .flag("--headed", "browser.headed", true)
            .load()
            .unwrap();
        let Config { limits, budgets, browser, .. } = &loaded.config;
        assert_eq!((limits.tabs, limits.dials, budgets.action_ms), (5, 8, 7));
        assert_eq!((browser.chromium.as_deref(), browser.headed), (Some(Path::new("/flag")), true));
        assert_eq!(loaded.source("limits.tabs"), name);
        assert_eq!(loaded.source("limits.dials"), "TABVISOR_LIMITS__DIALS");
        assert_eq!(loaded.source("browser.chromium"), "--chromium");
        assert_eq!(loaded.source("limits.event_lag"), "default");
        assert_eq!(loaded.source("browser.profile"), "default");
        let rows = loaded.rows();
        assert!(rows.iter().any(|row| row.key == "limits.dials" && row.value == 8));
    }

    #[test]
    fn profiles_have_names_of_their_own() {
        let (toml, name) =
            file("[profiles.work]\nprofile = \"/work\"\n[profiles.far-away]\ncdp_url = \"9222\"\n");
        let layers = with(&[("TABVISOR_PROFILES__WORK__HEADED", "1")]).file(Some(toml.path()));
        let loaded = layers.load().unwrap();
        let profiles = &loaded.config.profiles;
        assert!(profiles["work"].headed && profiles["work"].profile.as_deref() == Some(Path::new("/work")));
        assert_eq!(profiles["far-away"].cdp_url.as_ref().unwrap().expose(), "9222");
        assert_eq!(loaded.source("profiles.work.profile"), name);
        assert_eq!(loaded.source("profiles.work.headed"), "TABVISOR_PROFILES__WORK__HEADED");
        let (toml, name) = file("[profiles.work]\nfolder = 1\n");
        let said = why(Layers::new().file(Some(toml.path())));
        assert!(said.starts_with(&format!("unknown key profiles.work.folder (from {name})")), "{said}");
    }

    #[test]
    fn unknown_keys_and_variables_name_the_nearest() {
        let (toml, name) = file("[limits]\ntab = 5\n");
        let layers = Layers::new().file(Some(toml.path()));
        assert_eq!(why(layers), format!("unknown key limits.tab (from {name}); did you mean limits.tabs?"));
        let (toml, name) = file("[limit]\ntabs = 5\n");
        let layers = Layers::new().file(Some(toml.path()));
        assert_eq!(why(layers), format!("unknown key limit (from {name}); did you mean limits?"));
        assert_eq!(
            why(with(&[("TABVISOR_NOSANDBOX", "1")])),
            "unknown variable TABVISOR_NOSANDBOX; did you mean TABVISOR_NO_SANDBOX?"
        );
        assert_eq!(why(with(&[("TABVISOR_QUUX", "1")])), "unknown variable TABVISOR_QUUX");
    }

    #[test]
    fn bad_values_name_key_and_source() {
        let (toml, name) = file("[limits]\ntabs = \"many\"\n");
        let said = why(Layers::new().file(Some(toml.path())));
        assert_eq!(said, format!("limits.tabs: must be usize, got string \"many\" (from {name})"));
        let (toml, name) = file("limits = 5\n");
        let said = why(Layers::new().file(Some(toml.path())));
        assert_eq!(said, format!("limits: is a section: write [limits] and its keys below (from {name})"));
        assert_eq!(
            why(with(&[("TABVISOR_LIMITS__TABS", "0")])),
            "limits.tabs: must be from 1 to 1000000, got 0 (from TABVISOR_LIMITS__TABS)"
        );
        assert_eq!(
            why(with(&[("TABVISOR_NO_SANDBOX", "maybe")])),
            "browser.no_sandbox: must be true or false (1 or 0), got \"maybe\" (from TABVISOR_NO_SANDBOX)"
        );
        let said = why(with(&[("TABVISOR_CARE__RECOVERY", "always")]));
        assert!(
            said.starts_with("care.recovery: ") && said.ends_with("(from TABVISOR_CARE__RECOVERY)"),
            "{said}"
        );
        let said = why(Layers::new().flag("--listen", "server.listen", "somewhere"));
        assert!(said.starts_with("server.listen: \"somewhere\" is no address"), "{said}");
        assert!(
            why(Layers::new().file(Some(Path::new("/nowhere.toml"))))
                .starts_with("configuration file /nowhere")
        );
    }

    #[test]
    fn texts_stay_texts_and_lists_are_words() {
        let loaded = with(&[
            ("TABVISOR_TOKEN", "007"),
            ("TABVISOR_BROWSER__ARGS", "--a --b=0,0"),
            ("TABVISOR_BROWSER__WINDOW_SIZE", "800 600"),
            ("TABVISOR_SERVER__HOSTS", r#"["a", "b"]"#),
            ("TABVISOR_STATE_DIR", "/var/lib/tabvisor"),
            ("TABVISOR_BROWSER__CDP_URL", "9222"),
        ]);
        let config = loaded.load().unwrap().config;
        assert_eq!(config.server.token.as_ref().unwrap().expose(), "007");
        assert_eq!(config.browser.args, ["--a", "--b=0,0"]);
        assert_eq!(config.browser.window_size, (800, 600));
        assert_eq!(config.server.hosts, ["a", "b"]);
        assert_eq!(config.state_dir, Path::new("/var/lib/tabvisor"));
        assert_eq!(config.browser.cdp_url.unwrap().expose(), "9222");
    }

    #[test]
    fn the_highest_layer_says_what_the_secret_is() {
        let (toml, _) = file("[server]\ntoken_file = \"/file\"\n");
        let loaded = with(&[("TABVISOR_TOKEN", "secret")]).file(Some(toml.path())).load().unwrap();
        assert_eq!(loaded.config.server.token_file, None);
        assert!(loaded.config.server.token.is_some() && !format!("{loaded:?}").contains("\"secret\""));
        let flagged =
            with(&[("TABVISOR_TOKEN", "secret")]).flag("--token-file", "server.token_file", "/flag");
        let config = flagged.load().unwrap().config;
        assert!(config.server.token.is_none() && config.server.token_file.is_some());
    }

    #[test]
    fn variables_of_others_are_left_alone() {
        with(&[
            ("TABVISOR_URL", "http://127.0.0.1:1"),
            ("TABVISOR_LOG", "debug"),
            ("TABVISOR_LIMITS__TABS", ""),
            ("TABVISOR_PORT", "tcp://10.0.0.1:9377"),
            ("TABVISOR_SERVICE_HOST", "10.0.0.1"),
            ("TABVISOR_PORT_9377_TCP_ADDR", "10.0.0.1"),
        ])
        .load()
        .unwrap();
    }
}
