//! A runaway evaluate hurts nobody, in seven ways at once. `make stalls` prints the times of the
//! same scenario; here only what must hold on any machine is asserted.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use support::stalls::{self, Stall};
use support::{Pages, secs};
use tabvisor::{Error, EvaluateError, TabError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_stall_is_one_typed_answer_and_siblings_never_notice() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let outcome = stalls::run(&running, &pages).await;

    assert_eq!(outcome.reports.len(), stalls::STALLS.iter().map(|(_, n)| n).sum::<usize>());
    for report in &outcome.reports {
        assert!(report.took < secs(3), "{report:?}");
        let Err(Error::Tab(TabError::Evaluate(error))) = &report.answer else { panic!("{report:?}") };
        match (report.stall, error) {
            (Stall::Confirm, EvaluateError::Dialog { dialog, .. }) => {
                assert_eq!(dialog.message, "sure?");
                assert_eq!(report.next.as_ref().unwrap_err().kind(), "dialog_open", "named at once");
            }
            (Stall::Loop | Stall::Microtasks | Stall::Regex, EvaluateError::TimedOut(expiry)) => {
                // Nine loops on two cores: hearing of the end may take longer than the answer may.
                assert!(expiry.terminated || expiry.blocked_by.is_some(), "{report:?}");
                assert_eq!(support::int(&report.next), 2, "usable at once");
            }
            (Stall::Promise, EvaluateError::TimedOut(expiry)) => {
                assert!(!expiry.terminated && expiry.still_running, "{report:?}");
                assert!(expiry.page_responsive || expiry.blocked_by.is_some(), "{report:?}");
                assert_eq!(support::int(&report.next), 2, "the page was never stuck");
            }
            (Stall::SyncXhr | Stall::Stopped, EvaluateError::TimedOut(expiry)) => {
                assert!(!expiry.terminated && !expiry.page_responsive, "{report:?}");
                assert!(expiry.blocked_by.is_some(), "{report:?}");
                let next = report.next.as_ref().unwrap_err();
                assert_eq!(next.kind(), "tab_stuck", "why, and at once");
                assert!(report.next_took < secs(1), "not by using up another budget: {report:?}");
            }
            _ => panic!("{report:?}"),
        }
    }
    assert!(outcome.siblings.len() >= stalls::IDLE);
    assert!(outcome.siblings.iter().all(|time| *time < secs(2)));
    running.stop().await;
}
