//! What a page is made to believe: where and when it is, on which device, and how it reaches the
//! network.
//!
//! [`Emulation`] is a plain value. Chromium forgets all of it with the session that it was set on, so
//! whoever makes a new session [applies](Emulation::apply) the value to it.
//!
//! | settings | session | reach |
//! |---|---|---|
//! | geolocation, media, timezone, locale, device | the page session | the page; timezone and locale hold for its renderer |
//! | offline, headers, credentials | the observing sessions | the page and its frames |
//!
//! Those of the second row need the Network or Fetch domain, whose events may be larger than a link
//! takes; so they live on a link that may be lost. While it is made anew they do not hold.

mod device;
mod value;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

pub use device::Device;
pub use value::{BadSetting, ColorScheme, Credentials, Geolocation, Headers, Setting};

/// A command and its parameters.
pub(crate) type Command = (&'static str, Value);

/// Everything that is set on a tab.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emulation {
    offline: bool,
    headers: Headers,
    credentials: Option<Credentials>,
    geolocation: Option<Geolocation>,
    media: Option<ColorScheme>,
    timezone: Option<String>,
    locale: Option<String>,
    device: Option<&'static Device>,
    /// Documents are stopped at first, so that somebody can look at their addresses.
    checked: bool,
}

impl Emulation {
    /// Nothing is set; but where `checked`, documents are stopped at first for a look at their addresses.
    pub fn checking(checked: bool) -> Self {
        Self { checked, ..Self::default() }
    }

    /// The same with one thing set.
    #[must_use]
    pub fn with(mut self, setting: Setting) -> Self {
        match setting {
            Setting::Offline(offline) => self.offline = offline,
            Setting::Headers(headers) => self.headers = headers,
            Setting::Credentials(credentials) => self.credentials = credentials,
            Setting::Geolocation(place) => self.geolocation = place,
            Setting::Media(scheme) => self.media = scheme,
            Setting::Timezone(zone) => self.timezone = zone,
            Setting::Locale(locale) => self.locale = locale,
            Setting::Device(device) => self.device = device,
        }
        self
    }

    /// Makes a new page session so. What was never set costs nothing.
    ///
    /// # Errors
    /// Every [`CdpError`].
    pub async fn apply(&self, session: &Session, budget: &Budget) -> Result<(), CdpError> {
        run(session, self.of_page(), budget).await
    }

    /// Changes a session for `setting`, which this value has already.
    ///
    /// # Errors
    /// Every [`CdpError`]; a protocol error where Chromium does not know the value.
    pub async fn change(
        &self,
        setting: &Setting,
        session: &Session,
        budget: &Budget,
    ) -> Result<(), CdpError> {
        run(session, self.commands(setting), budget).await
    }

    /// Who the page says it is to servers that ask.
    pub(crate) fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    fn of_page(&self) -> Vec<Command> {
        let set = [
            self.geolocation.map(|it| Setting::Geolocation(Some(it))),
            self.media.map(|it| Setting::Media(Some(it))),
            self.timezone.clone().map(|it| Setting::Timezone(Some(it))),
            self.locale.clone().map(|it| Setting::Locale(Some(it))),
            self.device.map(|it| Setting::Device(Some(it))),
        ];
        set.iter().flatten().flat_map(|setting| self.commands(setting)).collect()
    }

    /// What a new observing session is told.
    pub(crate) fn of_network(&self) -> Vec<Command> {
        let checks = self.checked.then_some(Setting::Credentials(None));
        let set = [
            checks.filter(|_| self.credentials.is_none()),
            self.offline.then_some(Setting::Offline(true)),
            (!self.headers.is_empty()).then(|| Setting::Headers(self.headers.clone())),
            self.credentials.clone().map(|it| Setting::Credentials(Some(it))),
        ];
        set.iter().flatten().flat_map(|setting| self.commands(setting)).collect()
    }

    pub(crate) fn commands(&self, setting: &Setting) -> Vec<Command> {
        match setting {
            Setting::Offline(offline) => {
                let params = json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
                vec![("Network.emulateNetworkConditions", params)]
            }
            Setting::Headers(headers) => {
                vec![("Network.setExtraHTTPHeaders", json!({ "headers": headers.as_map() }))]
            }
            // Chromium asks for credentials only of requests that it stops at first (measured), so
            // every request is stopped, and let go at once.
            Setting::Credentials(Some(_)) => {
                vec![(
                    "Fetch.enable",
                    json!({ "handleAuthRequests": true, "patterns": [{ "urlPattern": "*" }] }),
                )]
            }
            Setting::Credentials(None) if self.checked => {
                vec![(
                    "Fetch.enable",
                    json!({ "patterns": [{ "urlPattern": "*", "resourceType": "Document" }] }),
                )]
            }
            Setting::Credentials(None) => vec![("Fetch.disable", json!({}))],
            Setting::Geolocation(Some(place)) => vec![("Emulation.setGeolocationOverride", json!(place))],
            Setting::Geolocation(None) => vec![("Emulation.clearGeolocationOverride", json!({}))],
            Setting::Media(scheme) => {
                let value = scheme.map_or("", ColorScheme::word);
                let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
                vec![("Emulation.setEmulatedMedia", json!({ "features": features }))]
            }
            Setting::Timezone(zone) => {
                let zone = zone.as_deref().unwrap_or_default();
                // A zone in the place of another one is not checked (measured).
                let set = |zone: &str| ("Emulation.setTimezoneOverride", json!({ "timezoneId": zone }));
                vec![set(""), set(zone)]
            }
            Setting::Locale(locale) => {
                let params = locale.as_ref().map_or_else(|| json!({}), |locale| json!({ "locale": locale }));
                vec![("Emulation.setLocaleOverride", params), self.user_agent()]
            }
            Setting::Device(Some(device)) => {
                let touch =
                    json!({ "enabled": device.touch, "maxTouchPoints": if device.touch { 5 } else { 1 } });
                vec![
                    ("Emulation.setDeviceMetricsOverride", device.metrics()),
                    ("Emulation.setTouchEmulationEnabled", touch),
                    self.user_agent(),
                ]
            }
            Setting::Device(None) => vec![
                ("Emulation.clearDeviceMetricsOverride", json!({})),
                ("Emulation.setTouchEmulationEnabled", json!({ "enabled": false })),
                self.user_agent(),
            ],
        }
    }

    /// One command holds what the device and the locale have to say. An empty user agent is Chromium's
    /// own (measured).
    fn user_agent(&self) -> Command {
        let mut params = json!({ "userAgent": self.device.map_or("", |device| device.user_agent) });
        if let Some(locale) = &self.locale {
            params["acceptLanguage"] = locale.as_str().into();
        }
        ("Emulation.setUserAgentOverride", params)
    }
}

async fn run(session: &Session, commands: Vec<Command>, budget: &Budget) -> Result<(), CdpError> {
    let all = async {
        // All are sent before one is waited for: a page that does not answer yet takes them in turn.
        let mut replies = Vec::with_capacity(commands.len());
        for (method, params) in commands {
            replies.push(session.send(method, params).await?);
        }
        for reply in replies {
            reply.await?;
        }
        Ok(())
    };
    budget.run(all).await.map_err(|spent| CdpError::spent("Emulation", spent))?
}

impl Headers {
    fn as_map(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(commands: &[Command]) -> Vec<&'static str> {
        commands.iter().map(|(method, _)| *method).collect()
    }

    #[test]
    fn what_was_never_set_is_not_sent() {
        let nothing = Emulation::default();
        assert!(nothing.of_page().is_empty() && nothing.of_network().is_empty());
        let back = nothing.with(Setting::Offline(true)).with(Setting::Offline(false));
        assert!(back.of_network().is_empty());
    }

    #[test]
    fn a_locale_does_not_undo_a_device() {
        let phone = Device::named("Pixel 7").unwrap();
        let set = Emulation::default()
            .with(Setting::Device(Some(phone)))
            .with(Setting::Locale(Some("de-DE".into())));
        let (_, params) = set.commands(&Setting::Locale(Some("de-DE".into()))).pop().unwrap();
        assert_eq!(params, json!({ "userAgent": phone.user_agent, "acceptLanguage": "de-DE" }));
        assert_eq!(
            names(&set.of_page()),
            [
                "Emulation.setLocaleOverride",
                "Emulation.setUserAgentOverride",
                "Emulation.setDeviceMetricsOverride",
                "Emulation.setTouchEmulationEnabled",
                "Emulation.setUserAgentOverride",
            ]
        );
        assert!(set.of_network().is_empty());
    }

    #[test]
    fn secrets_do_not_show() {
        let headers = Headers::new([("X-Key".to_owned(), "hush".to_owned())]).unwrap();
        let credentials = Credentials { username: "ada".into(), password: "hush".into() };
        let set = Emulation::default()
            .with(Setting::Headers(headers))
            .with(Setting::Credentials(Some(credentials.clone())));
        let shown = format!("{set:?} {:?}", Setting::Credentials(Some(credentials)));
        assert!(shown.contains("X-Key") && !shown.contains("hush") && !shown.contains("ada"), "{shown}");
        assert_eq!(names(&set.of_network()), ["Network.setExtraHTTPHeaders", "Fetch.enable"]);
    }
}
