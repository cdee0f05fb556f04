//! The service's router on a socket.

use serde_json::{Value, json};
use tabvisor::Config;
use tabvisor::http::{self, Access, Service};
use tabvisor_cdp::task::{self, Task};
use tokio::net::TcpListener;

use super::http::{Answer, Http};
use super::{Pages, Running};

/// The service's router on a socket, over a supervisor with a Chromium of its own.
pub struct Served {
    pub http: Http,
    pub pages: Pages,
    pub running: Running,
    pub service: Service,
    _server: Task<()>,
}

pub async fn serve() -> Served {
    serve_with(|_| {}).await
}

pub async fn serve_with(change: impl Fn(&mut Config)) -> Served {
    let running = super::start_with(&change).await;
    let mut config = super::config(&running.state);
    change(&mut config);
    let tabvisor = &running.tabvisor;
    let (supervisor, browser) = (tabvisor.supervisor().clone(), tabvisor.browser());
    let service = Service::new(supervisor, Some(browser), Access::for_everybody(), &config);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http::new(listener.local_addr().unwrap());
    let server = task::spawn(http::serve(listener, service.clone(), std::future::pending()));
    Served { http, pages: Pages::start().await, running, service, _server: server }
}

impl Served {
    pub async fn open(&self, path: &str) -> String {
        self.http.open(&self.pages.url(path)).await
    }

    /// A number of the page, once the tab takes calls. A busy machine may have it refuse them for
    /// a moment after a script was ended.
    pub async fn number(&self, tab: &str, of: &str) -> u64 {
        super::eventually(of, || async { self.http.evaluate_within(tab, of, 5000).await["result"].as_u64() })
            .await
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }
}

/// What an answer says of its value: everything but where it came from.
pub fn said(answer: &Answer) -> Value {
    assert_eq!((answer.status, &answer["ok"]), (200, &json!(true)), "{answer:?}");
    let mut body = answer.body.clone();
    let members = body.as_object_mut().unwrap();
    for member in ["ok", "targetId", "url"] {
        members.remove(member).unwrap_or_else(|| panic!("no {member}: {answer:?}"));
    }
    body
}

pub fn assert_result(answer: &Answer, result: impl Into<Value>) {
    assert_eq!((answer.status, &answer["result"]), (200, &result.into()), "{answer:?}");
}

/// Status, code and reason.
pub fn failure(answer: &Answer) -> (u16, Option<&str>, Option<&str>) {
    (answer.status, answer["code"].as_str(), answer["reason"].as_str())
}
