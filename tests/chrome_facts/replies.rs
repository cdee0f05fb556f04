//! Large messages, either way.

use tabvisor::Missing;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::link::{LinkOptions, Purpose};

use crate::support::raw::{self, Bare, Raw, script};
use crate::support::stage::Stage;
use crate::support::{self, int, kind, secs};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_string_of_100_mb_is_named_and_not_sent_and_the_tab_goes_on() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(stage.page("")).await.unwrap();
    for (text, kind) in [("'x'.repeat(100e6)", "string"), ("(['x'.repeat(100e6)])", "array")] {
        let value = tab.evaluate(text).within(secs(60)).await.unwrap();
        assert_eq!(value.kind, kind);
        assert!(value.result.is_none());
        let limit = 10 << 20;
        match value.missing {
            Some(Missing::TooLarge { bytes: Some(bytes), limit: told }) => {
                assert_eq!(told, limit);
                assert!(bytes >= 100_000_000, "{bytes}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    }
    assert_eq!(tab.row().unwrap().restarts, 0);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_over_the_frame_limit_ends_its_own_link_and_no_other() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let other = bare.attach(&page.target).await;
    let huge = page.call("Runtime.evaluate", script("'x'.repeat(100e6)")).await;
    assert_eq!(huge, Err(CdpError::LinkClosed(CloseCause::TooLarge { limit: 64 << 20 })));
    assert!(page.link.is_closed());
    assert_eq!(other.evaluate("1").await, 1);
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_over_our_limit_is_refused_before_it_is_sent_and_the_link_goes_on() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let text = format!("'{}'", "x".repeat(65 << 20));
    match page.call("Runtime.evaluate", script(&text)).await {
        Err(CdpError::RequestTooLarge { bytes, limit, .. }) => assert!(bytes > 65 << 20 && limit == 64 << 20),
        other => panic!("{:?}", other.map(drop)),
    }
    assert_eq!(page.evaluate("1").await, 1);
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_closes_the_socket_on_a_request_of_more_than_100_mib() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let mut options = LinkOptions::new(Purpose::Evaluate);
    options.max_request_bytes = usize::MAX;
    let link = raw::connect_with(bare.address(), options).await;
    let session = link.attach(&page.target, &raw::budget()).await.unwrap();
    let own = Raw { link, session, target: page.target.clone() };
    let text = format!("'{}'.length", "x".repeat(101 << 20));
    match own.session.call("Runtime.evaluate", script(&text), &Budget::new(secs(100))).await {
        Err(CdpError::LinkClosed(_)) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(page.evaluate("1").await, 1);
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_scripts_over_the_limit_are_refused_by_name_and_the_largest_one_runs() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(stage.page("")).await.unwrap();
    let limit = 16 << 20;
    let around = "''.length".len();
    let of = |bytes: usize| format!("'{}'.length", "x".repeat(bytes - around));
    let refused = tab.evaluate(of(limit + 1)).await;
    assert_eq!(kind(&refused), "invalid_argument");
    assert!(refused.unwrap_err().to_string().contains("limits.max_script_bytes"));
    assert_eq!(
        tab.evaluate(of(limit)).within(secs(60)).await.unwrap().read::<usize>().unwrap(),
        limit - around
    );
    running.stop().await;
}
