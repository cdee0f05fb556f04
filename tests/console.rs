//! The web console, driven in a real Chromium by this crate: one service is watched, one supervisor of the crate has the
//! page open.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::path::Path;

use serde_json::{Value, json};
use support::http::Http;
use support::service::{Home, Service};
use support::{Pages, Running, eventually, secs};
use tabvisor::act::{Chord, Click, TypeMode, Viewport};
use tabvisor::emulation::{ColorScheme, Setting};
use tabvisor::{Act, At, Named, Screenshot, ScreenshotRequest, Tab};

/// What a page may call itself to become more than text.
const MARKUP: &str = "<img src=x onerror=\"document.body.dataset.broken=1\"><b>bold</b>";

struct Console {
    home: Home,
    service: Service,
    pages: Pages,
    operator: Running,
    page: Tab,
}

impl Console {
    /// The service with a tab, and the page as `serve` says where it is, with the token in the address where there is one.
    async fn open(arguments: &[&str]) -> (Self, String) {
        let home = Home::new();
        let service = home.serve(arguments).await;
        let pages = Pages::start().await;
        let tab = service.http.open(&pages.url("/ok")).await;
        let operator = support::start().await;
        let token = service.http.token.as_ref().map(|token| format!("#token={token}")).unwrap_or_default();
        let page = operator.tabvisor.open(format!("{}/ui{token}", service.url)).await.unwrap();
        let console = Self { home, service, pages, operator, page };
        console.until("its row is there", &format!("{} !== null", row(&tab))).await;
        (console, tab)
    }

    async fn see(&self, script: &str) -> Value {
        let seen = self.page.evaluate(script).within(secs(20)).await;
        seen.map_or(Value::Null, |value| value.read().unwrap())
    }

    async fn until(&self, what: &str, script: &str) {
        eventually(what, || async { (self.see(script).await == true).then_some(()) }).await;
    }

    async fn state_is(&self, tab: &str, state: &str) {
        let script = format!("{}?.dataset.state === '{state}'", row(tab));
        self.until(&format!("the row says {state}"), &script).await;
    }

    async fn click(&self, selector: &str) {
        let at = At::On(Named::Css(selector.to_owned()));
        let act = Act::Click { at, click: Click::default(), by_events: false };
        self.page.act(act, secs(20)).await.unwrap();
    }

    async fn write(&self, selector: &str, text: &str) {
        let (on, mode) = (Named::Css(selector.to_owned()), TypeMode::default());
        let act = Act::Type { on, text: text.to_owned(), mode, replace: true, submit: false, delay: secs(0) };
        self.page.act(act, secs(20)).await.unwrap();
    }

    async fn press(&self, keys: &str) {
        let chord = Chord::read("key", keys, false).unwrap();
        self.page.act(Act::Press { chord, on: None, hold_for: secs(0) }, secs(20)).await.unwrap();
    }

    /// Has the page loop while a call waits on it, until the row says so.
    async fn hold(&self, tab: &str) -> tabvisor_cdp::task::Task<support::http::Answer> {
        let http: &Http = &self.service.http;
        http.evaluate(tab, "setTimeout(() => { for (;;); }, 100); return 1").await;
        let waiting = http.evaluating(tab, "new Promise(() => {})", 100_000);
        self.state_is(tab, "stuck").await;
        waiting
    }

    /// Keeps what the page looks like, for people.
    async fn picture(&self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/console");
        std::fs::create_dir_all(&folder).unwrap();
        let Screenshot::Plain(shot) =
            self.page.screenshot(ScreenshotRequest::default(), secs(30)).await.unwrap()
        else {
            panic!("no labels were asked for")
        };
        assert!(shot.bytes.starts_with(b"\x89PNG"));
        std::fs::write(folder.join(format!("{name}.png")), shot.bytes).unwrap();
    }

    async fn colours(&self, scheme: ColorScheme) {
        self.page.emulate(Setting::Media(Some(scheme))).await.unwrap();
    }

    async fn size(&self, width: u32, height: u32) {
        self.page.act(Act::Resize(Viewport { width, height }), secs(20)).await.unwrap();
    }

    /// Nothing was asked of anybody but the service, and the policy had nothing to refuse.
    async fn assert_kept_to_itself(&self) {
        let heard = self.page.requests(None, None).await.unwrap();
        assert!(heard.rows.len() > 10, "the files and what it shows: {:?}", heard.rows);
        for request in &heard.rows {
            let own = request.url.starts_with(&format!("{}/", self.service.url));
            assert!(
                own || request.url.starts_with("data:") || request.url.starts_with("blob:"),
                "{request:?}"
            );
        }
        assert_eq!(self.violations().await, 0);
        let errors = self.page.page_errors(None).await.unwrap();
        assert!(errors.rows.is_empty(), "{:?}", errors.rows);
        // What it asserts can be seen at all.
        self.see(&format!("new Image().src = '{}'; 1", self.pages.url("/ok"))).await;
        eventually("the policy refuses another origin", || async {
            (self.violations().await > 0).then_some(())
        })
        .await;
    }

    async fn violations(&self) -> usize {
        let heard = self.page.console(None, tabvisor::observe::Level::Debug).await.unwrap();
        heard.rows.iter().filter(|row| format!("{row:?}").contains("Content Security Policy")).count()
    }

    async fn stop(mut self) {
        self.operator.stop().await;
        self.service.terminate().await;
        self.home.assert_nothing_left();
    }
}

/// The row of a tab, as the page finds it.
fn row(tab: &str) -> String {
    format!("document.querySelector('#rows > li[data-tab={tab}]')")
}

fn button(words: &str, tab: &str) -> String {
    format!("button[aria-label='{words} {tab}']")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stuck_tab_is_told_and_brought_back_with_the_mouse_and_with_the_keyboard_alone() {
    let (console, tab) = Console::open(&[]).await;
    console
        .until("events come as they happen", "document.getElementById('connection').dataset.is === 'live'")
        .await;
    console
        .until(
            "the token is out of sight",
            "location.hash === '' && !document.body.innerText.includes(sessionStorage['tabvisor.token'])",
        )
        .await;

    console.service.http.evaluate(&tab, &format!("document.title = {}", json!(MARKUP))).await;
    let title = format!("{}.querySelector('h3').textContent === {}", row(&tab), json!(MARKUP));
    console.until("a title is text", &title).await;
    assert_eq!(
        console.see("document.body.dataset.broken ?? document.querySelector('#rows b')").await,
        Value::Null
    );
    let small = format!(
        "(image => image?.naturalWidth > 100 && image.naturalWidth <= 320)({}.querySelector('.picture img'))",
        row(&tab)
    );
    console.until("a small picture is there", &small).await;

    let waiting = console.hold(&tab).await;
    let told = format!("/■ stuckfor .* by a script/.test({}.querySelector('.how').textContent)", row(&tab));
    console.until("it says for how long, and what keeps it", &told).await;
    console
        .until("the event is in the list", "/tab stuck/.test(document.getElementById('log').textContent)")
        .await;
    console.picture("stuck").await;
    console.click(&button("Restart", &tab)).await;
    console.until("it is back", &format!("['ready', 'busy'].includes({}.dataset.state)", row(&tab))).await;
    console
        .until("that is said aloud", "/is back, by/.test(document.getElementById('said').textContent)")
        .await;
    drop(waiting);

    let waiting = console.hold(&tab).await;
    console.see("document.activeElement.blur(); document.querySelector('.skip').focus(); 1").await;
    let wanted = format!("document.activeElement.matches(\"{}\")", button("Restart", &tab));
    for _ in 0..20 {
        if console.see(&wanted).await == true {
            break;
        }
        console.press("Tab").await;
    }
    assert_eq!(console.see(&wanted).await, true, "Tab never came to it");
    assert_eq!(console.see("getComputedStyle(document.activeElement).outlineStyle").await, "solid");
    console.press("Enter").await;
    console.until("it is back", &format!("['ready', 'busy'].includes({}.dataset.state)", row(&tab))).await;
    assert_eq!(console.see(&wanted).await, true, "the focus stays where it was");
    drop(waiting);
    assert_eq!(console.service.http.evaluate(&tab, "2 + 2").await["result"], 4);

    let other = console.service.http.open(&console.pages.url("/ok")).await;
    console.until("a new tab has its row", &format!("{} !== null", row(&other))).await;
    console.click(&button("Close", &other)).await;
    console.click(&button("Really close", &other)).await;
    console.until("a closed one has none", &format!("{} === null", row(&other))).await;
    console.assert_kept_to_itself().await;
    console.stop().await;
}

/// Has a page ask, and answers it in the console.
async fn answer_dialogs(arguments: &[&str], name: &str) {
    let (console, tab) = Console::open(arguments).await;
    let http = console.service.http.clone();
    http.evaluate(&tab, "setTimeout(() => { window.answer = prompt('Whose?', 'Ada') }, 0); return 1").await;
    console.state_is(&tab, "dialog").await;
    let preset = format!("document.getElementById('answer-{tab}').value === 'Ada'");
    console.until("the preset text is there", &preset).await;
    console.size(1200, 700).await;
    console.colours(ColorScheme::Light).await;
    console.picture(&format!("{name}-light")).await;
    console.colours(ColorScheme::Dark).await;
    console.picture(&format!("{name}-dark")).await;
    console.size(390, 800).await;
    assert_eq!(
        console.see("document.documentElement.scrollWidth <= innerWidth").await,
        true,
        "a phone has to scroll sideways"
    );
    console.picture(&format!("{name}-phone")).await;
    console.write(&format!("#answer-{tab}"), "Grace").await;
    console.click(&button("Accept the dialog of", &tab)).await;
    assert_eq!(eventually("it is accepted", || async { answered(&http, &tab).await }).await, "Grace");
    http.evaluate(
        &tab,
        "delete window.answer; setTimeout(() => { window.answer = confirm('Sure?') }, 0); return 1",
    )
    .await;
    // The row of the first one may still be there: an answer to that would be refused.
    let second = format!("{}?.querySelector('q').textContent === 'Sure?'", row(&tab));
    console.until("the second one is there", &second).await;
    console.click(&button("Dismiss the dialog of", &tab)).await;
    assert_eq!(eventually("it is dismissed", || async { answered(&http, &tab).await }).await, false);
    console.assert_kept_to_itself().await;
    console.stop().await;
}

async fn answered(http: &Http, tab: &str) -> Option<Value> {
    let answer = http.evaluate(tab, "window.answer").await;
    answer.body.get("result").cloned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_answered_from_it() {
    answer_dialogs(&[], "dialog").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_answered_from_it_also_where_no_token_is_asked_for() {
    answer_dialogs(&["--no-auth"], "dialog-no-auth").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_token_is_told_and_the_right_one_is_asked_for_once() {
    let home = Home::new();
    let service = home.serve(&[]).await;
    assert!(service.said().contains(&format!("{}/ui", service.url)), "{}", service.said());
    let operator = support::start().await;
    let page = operator.tabvisor.open(format!("{}/ui#token=wrong", service.url)).await.unwrap();
    let token = service.http.token.clone().unwrap();
    let pages = Pages::start().await;
    let mut console = Console { home, service, pages, operator, page };
    let refused =
        "document.getElementById('refused').textContent === 'This token is wrong.' && location.hash === ''";
    console.until("a wrong one in the address is told", refused).await;
    assert_eq!(console.see("document.activeElement.id").await, "token");
    console.write("#token", "schlüssel").await;
    console.press("Enter").await;
    console.until("a wrong one in the field is told", "document.getElementById('token').value === ''").await;
    console.until("a wrong one in the field is told", refused).await;
    console.write("#token", &token).await;
    console.press("Enter").await;
    console.until("the right one opens it", "!document.getElementById('console').hidden").await;
    console.see("window.before = true, location.reload()").await;
    // Of the new document: the old one may still be there for a moment.
    let again = "window.before !== true && document.getElementById('console')?.hidden === false";
    console.until("it is asked for once", again).await;
    console.service.terminate().await;
    console
        .until(
            "a service that is gone is told",
            "document.getElementById('connection').dataset.is === 'lost'",
        )
        .await;
    console.operator.stop().await;
    console.home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_files_need_no_token_and_say_what_the_page_may_do() {
    let home = Home::new();
    let mut service = home.serve(&[]).await;
    let anybody = Http::new(service.http.address);
    for path in ["/ui", "/ui/main.js", "/ui/console.css", "/ui/icon.svg"] {
        let answer = anybody.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src \
             'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n",
            "x-content-type-options: nosniff\r\n",
            "cross-origin-resource-policy: same-origin\r\n",
        ] {
            assert!(answer.head.contains(line), "{path}: {line}: {}", answer.head);
        }
    }
    let moved = anybody.get("/ui/").await;
    assert!(moved.status == 308 && moved.head.contains("location: ../ui\r\n"), "{moved:?}");
    for (path, status) in
        [("/ui/other.js", 404), ("/ui/..%2f..%2fCargo.toml", 404), ("/supervisor", 401), ("/uix", 401)]
    {
        assert_eq!(anybody.get(path).await.status, status, "{path}");
    }
    let mut elsewhere = service.http.clone();
    elsewhere.token =
        Some(format!("{}\r\nOrigin: https://evil.example", service.http.token.as_ref().unwrap()));
    let refused = elsewhere.send("POST /tabs/t1/restart", "{}").await;
    assert_eq!((refused.status, &refused["reason"]), (403, &json!("cross_site")), "{refused:?}");
    let missing = service.http.get("/tabs/t99/thumbnail").await;
    assert_eq!((missing.status, &missing["reason"]), (404, &json!("tab_not_found")), "{missing:?}");
    service.terminate().await;
}
