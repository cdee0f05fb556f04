//! Calls to a running service over HTTP.

use std::error::Error as _;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tabvisor::config::{Loaded, Secret};
use url::Url;

use super::failure::Failure;
use super::flags::Common;
use super::token;

/// How much longer than the budget of a call the client waits. The service answers in time by
/// itself; this is for one that does not.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// Where a service listens unless it is told otherwise.
const SERVICE: &str = "http://127.0.0.1:9377";

/// A service, as a client sees it.
pub(super) struct Client {
    base: Url,
    token: Option<Secret>,
    profile: Option<String>,
    http: reqwest::Client,
}

impl Client {
    pub(super) fn new(common: &Common, loaded: &Loaded) -> Result<Self, Failure> {
        let bad = |why: String| Failure::usage(format!("--url: {why}; give http://HOST:PORT"));
        let base =
            Url::parse(common.url.as_deref().unwrap_or(SERVICE)).map_err(|why| bad(why.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(bad("it is no http or https address".into()));
        }
        let token = token::for_client(&loaded.config, &base)?;
        let mut http = reqwest::Client::builder().connect_timeout(CONNECT);
        if token::is_loopback(&base) {
            // A proxy would not find this machine.
            http = http.no_proxy();
        }
        let http = http.build().map_err(|why| Failure::failed(chain(&why)))?;
        Ok(Self { base, token, profile: common.browser_profile.clone(), http })
    }

    /// What is at `path`, and the way there.
    pub(super) fn endpoint(&self, path: &str) -> (reqwest::Client, Url, Option<&Secret>) {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(path);
        }
        (self.http.clone(), url, self.token.as_ref())
    }

    /// Makes a call that the service answers within `budget`, and gives the text of its answer.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &[&str],
        body: Option<Value>,
        budget: Duration,
    ) -> Result<String, Failure> {
        self.ask(method, path, &[], body, budget).await
    }

    /// Asks for what is at `path`, as `query` wants it.
    pub(super) async fn get(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        budget: Duration,
    ) -> Result<String, Failure> {
        self.ask(Method::GET, path, query, None, budget).await
    }

    pub(super) async fn ask(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, String)],
        body: Option<Value>,
        budget: Duration,
    ) -> Result<String, Failure> {
        let mut request = self.request(method, path, query).timeout(budget + PATIENCE);
        if let Some(body) = &body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|why| self.broken(&why, budget))?;
        let status = response.status();
        let text = response.text().await.map_err(|why| self.broken(&why, budget))?;
        if status.is_success() { Ok(text) } else { Err(self.refused(status, &text)) }
    }

    /// Asks for a stream, which ends when the service ends it.
    pub(super) async fn stream(&self, path: &[&str]) -> Result<Stream<'_>, Failure> {
        let response = self.request(Method::GET, path, &[]).send().await;
        let response = response.map_err(|why| self.broken(&why, CONNECT))?;
        let status = response.status();
        if status.is_success() {
            return Ok(Stream { client: self, response });
        }
        let text = response.text().await.map_err(|why| self.broken(&why, CONNECT))?;
        Err(self.refused(status, &text))
    }

    fn request(&self, method: Method, path: &[&str], query: &[(&str, String)]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        if let Some(profile) = &self.profile {
            url.query_pairs_mut().append_pair("profile", profile);
        }
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        }
    }

    fn broken(&self, why: &reqwest::Error, budget: Duration) -> Failure {
        let base = self.base.as_str().trim_end_matches('/');
        if why.is_connect() {
            return Failure::unreachable(format!(
                "cannot reach the service at {base}: {}; start one with `tabvisor serve`, or name another with --url \
                 or TABVISOR_URL",
                root_cause(why)
            ));
        }
        if why.is_timeout() {
            let waited = (budget + PATIENCE).as_millis();
            return Failure::out_of_time(format!("{base} did not answer within {waited} ms"));
        }
        Failure::unreachable(format!("the connection to {base} broke: {}", root_cause(why)))
    }

    fn refused(&self, status: StatusCode, text: &str) -> Failure {
        let Ok(answer) = serde_json::from_str::<Value>(text) else {
            return Failure::unreachable(format!(
                "{} answered {status}, but not as tabvisor does",
                self.base
            ));
        };
        let said = answer["error"].as_str().unwrap_or(text).to_owned();
        let failure = match (status, answer["reason"].as_str()) {
            (_, Some("timeout" | "response_not_found")) => Failure::out_of_time(said),
            (StatusCode::UNAUTHORIZED, _) => Failure::failed(self.how_to_get_in()),
            _ => Failure::failed(said),
        };
        failure.answered(answer)
    }

    fn how_to_get_in(&self) -> String {
        let tried = if self.token.is_some() { "does not take this token" } else { "wants a token" };
        format!(
            "the service at {} {tried}: give its token with --token or TABVISOR_TOKEN (a service that made one \
             itself keeps it in its state folder)",
            self.base.as_str().trim_end_matches('/')
        )
    }
}

/// What comes little by little.
pub(super) struct Stream<'a> {
    client: &'a Client,
    response: reqwest::Response,
}

impl Stream<'_> {
    /// The next bytes; `None` once it has ended.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let chunk = self.response.chunk().await.map_err(|why| self.client.broken(&why, CONNECT))?;
        Ok(chunk.map(|bytes| bytes.to_vec()))
    }
}

/// The body of an evaluate.
pub(super) fn evaluate_body(
    function: &str,
    element: Option<&str>,
    target: Option<&str>,
    timeout_ms: Option<u64>,
) -> Value {
    let mut body = json!({ "kind": "evaluate", "fn": function });
    if let Some(element) = element {
        body["ref"] = element.into();
    }
    if let Some(target) = target {
        body["targetId"] = target.into();
    }
    if let Some(ms) = timeout_ms {
        body["timeoutMs"] = ms.into();
    }
    body
}

fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text = format!("{text}: {deeper}");
        cause = deeper.source();
    }
    text
}
