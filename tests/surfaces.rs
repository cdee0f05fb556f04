//! One rule for budgets on every surface: each case runs through the crate, over HTTP and by the command line.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor::{Error, EvaluateError, TabError};
use tokio::time::Instant;

use crate::support::served::{Served, serve};
use crate::support::service::Home;
use crate::support::{ms, secs};

/// What an evaluate of `script` within `budget_ms` gives.
struct Case {
    script: &'static str,
    budget_ms: u64,
    gives: Gives,
}

#[derive(Clone, Debug, PartialEq)]
enum Gives {
    /// A value, and JavaScript's type of it.
    Value(Value, &'static str),
    /// A type without a value.
    Only(&'static str),
    /// The kind of failure.
    Failure(String),
    /// The budget ended: where the script was then.
    Late(String),
}

fn cases() -> Vec<Case> {
    let failure = |kind: &str| Gives::Failure(kind.into());
    let late = |phase: &str| Gives::Late(phase.into());
    let case = |script, budget_ms, gives| Case { script, budget_ms, gives };
    vec![
        case("1 + 1", 10_000, Gives::Value(json!(2), "number")),
        case("({ a: [null] })", 10_000, Gives::Value(json!({ "a": [null] }), "object")),
        case("undefined", 10_000, Gives::Only("undefined")),
        case("10n", 10_000, Gives::Only("bigint")),
        case("throw new Error('no')", 10_000, failure("threw")),
        case("a b", 10_000, failure("does_not_compile")),
        case("location.reload(); return new Promise(() => {})", 10_000, failure("navigated")),
        case("for (;;) {}", 400, late("running")),
        case("new Promise(() => {})", 400, late("pending")),
        case("1", 120_001, failure("invalid_argument")),
    ]
}

/// The same, and how long it took.
type Answered = (Gives, Duration);

async fn by_crate(served: &Served, tab: &str, case: &Case) -> Answered {
    let tab = served.running.tabvisor.tab(tab.parse().unwrap()).unwrap();
    let begun = Instant::now();
    let answer = tab.evaluate(case.script).within(ms(case.budget_ms)).await;
    let took = begun.elapsed();
    let gives = match answer {
        Ok(value) => match &value.result {
            Some(raw) => Gives::Value(serde_json::from_str(raw.get()).unwrap(), leaked(&value.kind)),
            None => Gives::Only(leaked(&value.kind)),
        },
        Err(Error::Tab(TabError::Evaluate(EvaluateError::TimedOut(expiry)))) => {
            Gives::Late(json!(expiry.phase).as_str().unwrap().into())
        }
        Err(error) => Gives::Failure(error.kind().into()),
    };
    (gives, took)
}

async fn by_http(served: &Served, tab: &str, case: &Case) -> Answered {
    let begun = Instant::now();
    let answer = served.http.evaluate_within(tab, case.script, case.budget_ms).await;
    (read(&answer.body), begun.elapsed())
}

async fn by_command_line(served: &Served, tab: &str, case: &Case) -> Answered {
    let url = format!("http://{}", served.http.address);
    let budget = case.budget_ms.to_string();
    let words = ["--json", "--url", &url, "evaluate", tab, "--fn", case.script, "--timeout-ms", &budget];
    let begun = Instant::now();
    let ran = Home::new().run(&words).await;
    let took = begun.elapsed();
    let gives = read(&serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}")));
    let code = match &gives {
        Gives::Value(..) | Gives::Only(_) => 0,
        Gives::Failure(_) => 1,
        Gives::Late(..) => 4,
    };
    assert_eq!(ran.code, code, "{ran:?}");
    (gives, took)
}

fn read(answer: &Value) -> Gives {
    let kind = || leaked(answer["resultType"].as_str().unwrap_or_else(|| panic!("no type: {answer}")));
    match (answer.get("result"), answer["reason"].as_str()) {
        (_, Some("timeout")) => Gives::Late(answer["details"]["phase"].as_str().unwrap().into()),
        (_, Some(reason)) => Gives::Failure(reason.into()),
        (Some(result), None) => Gives::Value(result.clone(), kind()),
        (None, None) => Gives::Only(kind()),
    }
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_means_the_same_to_the_crate_over_http_and_by_the_command_line() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    for case in cases() {
        let answers = [
            ("crate", by_crate(&served, &tab, &case).await),
            ("http", by_http(&served, &tab, &case).await),
            ("command line", by_command_line(&served, &tab, &case).await),
        ];
        for (surface, (gives, took)) in answers {
            assert_eq!(gives, case.gives, "{surface}: {}", case.script);
            // Wide: the machine may be busy, and a process starts.
            assert!(took < ms(case.budget_ms.min(10_000)) + secs(5), "{surface}: {}: {took:?}", case.script);
        }
        // Nobody pays for it.
        assert_eq!(served.number(&tab, "40 + 2").await, 42, "after {}", case.script);
    }
    served.stop().await;
}
