//! `browser_prepare`: which browser there is, and how it is started.

use serde_json::json;
use tabvisor_page::act::Route;

use crate::config::Config;

use super::super::args::{Args, unavailable, wrong};
use super::super::call::Call;
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::failure;
use super::super::schema::{Arg, Kind, may, must};
use super::Answer;

const PROFILE: &[Arg] =
    &[must("mode", Kind::OneOf(&["isolated_new", "isolated_named"]), ""), may("name", Kind::Text(64), "")];

pub(super) const TOOLS: &[Spec] = &[Spec {
    name: "browser_prepare",
    about: "Start the browser and tell which it is. Optional: the first tab starts it, too. headless, profile (isolated_new, or isolated_named \
            with a name that keeps its cookies) and cdp_url (attach instead of launch) count only before it was started.",
    hints: Hints::Sets,
    on_tab: false,
    args: &[
        may("headless", Kind::Flag, ""),
        may("profile", Kind::Object(PROFILE), ""),
        may("cdp_url", Kind::Text(2048), ""),
    ],
    budget: Within::Navigate,
    run: prepare,
    step: None,
}];

fn prepare(call: Call) -> Answer {
    Box::pin(async move {
        call.check_target()?;
        let wish = Wish::read(&call.args)?;
        if wish.says_anything() {
            let changed = call.home.prepare(|config| wish.apply(config));
            if !changed.map_err(|why| wrong("cdp_url", why))? {
                let why = "the browser runs already; how it is started was decided before";
                return Err(unavailable(why, "call browser_prepare without arguments to see which it is"));
            }
        }
        let browser = call.home.browser(&call.budget).await.map_err(|error| failure::before(&error))?;
        let Some(facts) = call.home.facts() else {
            return Err(failure::refused("unavailable", "the browser is being started again"));
        };
        let how = if facts.launched { "launched" } else { "attached" };
        let told =
            Told::seen(Route::Browser, "the browser told its version", format!("{how}: {}", facts.version));
        Ok(told
            .with("target_id", browser)
            .with("version", &facts.version)
            .with("how", how)
            .with("prepared_pid", facts.pid)
            .with("tabs", call.home.rows().len())
            .with("downloads", facts.no_downloads.as_ref().map_or(json!(true), |why| json!(why))))
    })
}

/// How a browser is to be started.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    headless: Option<bool>,
    profile: Option<Profile>,
    cdp_url: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Profile {
    New,
    Named(String),
}

impl Wish {
    fn read(args: &Args) -> Result<Self, Box<Told>> {
        let profile = args.object("profile").map(Args::from);
        let profile = match profile.map(|it| (it.text("mode"), it.text("name"))) {
            None => None,
            Some((Some(mode), Some(name))) if mode == "isolated_named" => {
                let good = |byte: u8| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
                };
                if !name.bytes().all(good) {
                    return Err(wrong("profile", "profile.name must be of a-z, 0-9, - and _"));
                }
                Some(Profile::Named(name))
            }
            Some((Some(mode), None)) if mode == "isolated_named" => {
                return Err(wrong("profile", "profile.name is needed with isolated_named"));
            }
            Some((_, Some(_))) => return Err(wrong("profile", "profile.name is for mode isolated_named")),
            Some(_) => Some(Profile::New),
        };
        let cdp_url = args.text("cdp_url");
        if cdp_url.is_some() && (profile.is_some() || args.has("headless")) {
            return Err(wrong(
                "cdp_url",
                "a browser that is attached to has its profile and its windows already",
            ));
        }
        Ok(Self { headless: args.flag("headless"), profile, cdp_url })
    }

    fn says_anything(&self) -> bool {
        self.headless.is_some() || self.profile.is_some() || self.cdp_url.is_some()
    }

    fn apply(&self, config: &mut Config) {
        let browser = &mut config.browser;
        if let Some(headless) = self.headless {
            browser.headed = !headless;
        }
        match &self.profile {
            Some(Profile::New) => browser.profile = None,
            Some(Profile::Named(name)) => browser.profile = Some(config.state_dir.join("named").join(name)),
            None => {}
        }
        if let Some(url) = &self.cdp_url {
            browser.cdp_url = Some(url.as_str().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn read(given: Value) -> Result<Wish, String> {
        let Value::Object(given) = given else { panic!("no object") };
        Wish::read(&Args::from(given)).map_err(|told| told.words())
    }

    #[test]
    fn a_wish_becomes_configuration() {
        let wish =
            read(json!({ "headless": false, "profile": { "mode": "isolated_named", "name": "work" } }))
                .unwrap();
        let mut config = Config { state_dir: "/state".into(), ..Config::default() };
        wish.apply(&mut config);
        assert!(config.browser.headed);
        assert_eq!(config.browser.profile.unwrap(), std::path::Path::new("/state/named/work"));
        assert!(!read(json!({})).unwrap().says_anything());
    }

    #[test]
    fn contradictions_are_refused() {
        for (given, why) in [
            (json!({ "profile": { "mode": "isolated_named" } }), "name is needed"),
            (json!({ "profile": { "mode": "isolated_new", "name": "a" } }), "is for mode isolated_named"),
            (json!({ "profile": { "mode": "isolated_named", "name": "../a" } }), "must be of a-z"),
            (json!({ "cdp_url": "9222", "headless": true }), "already"),
        ] {
            let said = read(given.clone()).unwrap_err();
            assert!(said.contains(why), "{given}: {said}");
        }
    }
}
