//! Pages that replaced what the part around a caller's script uses: values come all the same, or
//! an honest error does, and the tab goes on.

use serde_json::json;
use tabvisor::{Error, EvaluateError, Tab, TabError};

use crate::support::raw::{self, Bare};
use crate::support::stage::Stage;
use crate::support::{self, Running, int, kind, ms, secs};

struct Hostile {
    tab: Tab,
}

impl Hostile {
    /// A page that does this before anything of ours runs in it.
    async fn page(running: &Running, doing: &str) -> Self {
        let stage = Stage::start().await;
        let tab = running.tabvisor.open(stage.page(&format!("<script>{doing}</script>"))).await.unwrap();
        Self { tab }
    }

    /// The value, as JSON with its type.
    async fn gives(&self, text: &str) -> serde_json::Value {
        let value = self.tab.evaluate(text).within(secs(10)).await;
        let value = value.unwrap_or_else(|error| panic!("{text}: {} {error}", error.kind()));
        serde_json::to_value(&value).unwrap()
    }

    async fn fails(&self, text: &str) -> EvaluateError {
        match self.tab.evaluate(text).within(secs(10)).await {
            Err(Error::Tab(TabError::Evaluate(error))) => error,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// What must work on any page.
    async fn simple_values(&self) {
        assert_eq!(self.gives("1").await, json!({ "result": 1, "resultType": "number" }));
        assert_eq!(self.gives("'text'").await, json!({ "result": "text", "resultType": "string" }));
        assert_eq!(self.gives("() => null").await, json!({ "result": null, "resultType": "null" }));
        assert_eq!(self.gives("undefined").await, json!({ "resultType": "undefined" }));
        match self.fails("(() => { throw new TypeError('mine') })()").await {
            EvaluateError::Threw(thrown) => {
                assert_eq!((&*thrown.name, &*thrown.message), ("TypeError", "mine"));
            }
            other => panic!("{other:?}"),
        }
    }

    async fn goes_on(self) {
        let ended = self.tab.evaluate("for (;;);").within(ms(500)).await;
        assert!(matches!(kind(&ended), "timeout" | "budget_exceeded"), "{ended:?}");
        support::eventually("it is free again", || async { self.tab.evaluate("1").await.ok() }).await;
        assert_eq!(self.tab.row().unwrap().restarts, 0);
        self.tab.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_json_simple_values_come_and_objects_are_an_error() {
    let running = support::start().await;
    for doing in
        ["JSON.stringify = () => { throw 1 }", "JSON.stringify = () => 'no json'", "window.JSON = undefined"]
    {
        let page = Hostile::page(&running, doing).await;
        page.simple_values().await;
        assert_eq!(page.gives("Promise.resolve(5)").await["result"], 5);
        assert!(matches!(
            page.fails("({ a: 1 })").await,
            EvaluateError::Threw(_) | EvaluateError::Unreadable(_)
        ));
        page.goes_on().await;
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_that_renders_itself_with_a_throw_is_an_error_of_the_page() {
    let running = support::start().await;
    let page = Hostile::page(&running, "Array.prototype.toJSON = () => { throw 2 }").await;
    page.simple_values().await;
    assert_eq!(page.gives("({ a: 1 })").await["result"], json!({ "a": 1 }));
    assert!(matches!(page.fails("[1, 2]").await, EvaluateError::Threw(thrown) if thrown.message == "2"));
    page.goes_on().await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_promises_that_do_not_go_on_simple_values_come_and_promises_are_an_error() {
    let running = support::start().await;
    for doing in [
        "Promise.prototype.then = () => { throw 3 }",
        "Promise.prototype.then = () => {}",
        "window.Promise = undefined",
    ] {
        let page = Hostile::page(&running, doing).await;
        page.simple_values().await;
        assert_eq!(page.gives("[1, 2]").await["result"], json!([1, 2]));
        // A value would be as good; what counts is that it is no hang.
        let answer = page.tab.evaluate("await null; return 6").within(secs(10)).await;
        assert!(matches!(kind(&answer), "ok" | "threw"), "{answer:?}");
        page.goes_on().await;
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_event_or_a_performance_to_ask_for_the_time_evaluates_work() {
    let running = support::start().await;
    for doing in [
        "window.Event = undefined",
        "Object.defineProperty(window, 'performance', { value: undefined })",
        "Object.defineProperty(window, 'performance', { value: { now: () => 0 } })",
    ] {
        let page = Hostile::page(&running, doing).await;
        page.simple_values().await;
        assert_eq!(page.gives("({ a: 1 })").await["result"], json!({ "a": 1 }));
        assert_eq!(page.gives("Promise.resolve(5)").await["result"], 5);
        page.goes_on().await;
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_every_object_is_a_promise_that_never_settles_an_evaluate_ends_with_its_budget() {
    let running = support::start().await;
    let page = Hostile::page(
        &running,
        "Object.defineProperty(Object.prototype, 'then', { get() { return () => {} }, configurable: true })",
    )
    .await;
    let answer = page.tab.evaluate("1").within(ms(500)).await;
    assert!(matches!(kind(&answer), "ok" | "timeout"), "{answer:?}");
    // Its effects are there, and with the trap gone the tab is as good as any.
    let _ = page.tab.evaluate("delete Object.prototype.then").within(ms(500)).await;
    page.simple_values().await;
    page.goes_on().await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_every_object_is_a_promise_simple_values_come() {
    let running = support::start().await;
    for doing in [
        "Object.defineProperty(Object.prototype, 'then', { get() { return () => {} } })",
        "Object.defineProperty(Object.prototype, 'then', { get() { throw 4 } })",
        "Object.prototype.then = function (done) { done('stolen') }",
    ] {
        let page = Hostile::page(&running, doing).await;
        page.simple_values().await;
        page.goes_on().await;
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_page_without_a_clock_evaluates_are_not_called_late() {
    let running = support::start().await;
    for doing in [
        "window.Event = class { constructor() { throw 5 } }",
        "window.Event = class { timeStamp = 1e15 }",
        "Object.defineProperty(window, 'performance', { get() { throw 6 } })",
        "window.performance = undefined; window.Event = undefined; window.Date = undefined",
    ] {
        let page = Hostile::page(&running, doing).await;
        // The first ones may run on links whose clocks were read elsewhere.
        for _ in 0..4 {
            page.simple_values().await;
        }
        page.goes_on().await;
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_number_or_object_simple_values_come() {
    let running = support::start().await;
    for doing in ["window.Number = undefined", "Object.is = () => { throw 7 }", "window.Object = undefined"] {
        let page = Hostile::page(&running, doing).await;
        page.simple_values().await;
        page.goes_on().await;
    }
    running.stop().await;
}

/// Allows nothing: no script of the page's own, no `eval`, no text as code.
const STRICT: (&str, &str) = (
    "content-security-policy",
    "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_content_security_policy_keeps_an_evaluate_from_running_in_any_form() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let page = "<body><script>window.ran = true</script>";
    let tab = running.tabvisor.open(stage.page_with(&[STRICT], page)).await.unwrap();
    // The policy is at work.
    let ran: bool = tab.evaluate("'ran' in window").await.unwrap().read().unwrap();
    assert!(!ran);
    assert_eq!(kind(&tab.evaluate("document.body.innerHTML = '<b>'").await), "threw");
    for text in [
        "1 + 1",
        "() => 1 + 1",
        "function () { return 2 }",
        "async () => (await null, 2)",
        "await Promise.resolve(2)",
        "const two = await Promise.resolve(2); return two",
        "let sum = 0; for (const n of [1, 1]) sum += n; return sum",
    ] {
        assert_eq!(int(&tab.evaluate(text).await), 2, "{text}");
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_awaited_object_goes_through_the_then_of_its_page_unless_it_has_no_prototype() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare
        .page(&stage.page("<script>Object.prototype.then = function (done) { done('stolen') }</script>"))
        .await;
    let awaited =
        |expression: &str| json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
    assert_eq!(page.evaluate("({ a: 1 })").await, json!({ "a": 1 }));
    let answer = page.call("Runtime.evaluate", awaited("({ a: 1 })")).await;
    assert_eq!(raw::value(answer), "stolen", "awaitPromise leaves alone what is no promise");
    // What the envelopes of an evaluate could look like.
    let answer = page.call("Runtime.evaluate", awaited("({ __proto__: null, a: 1 })")).await;
    assert_eq!(raw::value(answer), json!({ "a": 1 }));
    bare.stop().await;
}
