//! Which pages share a renderer, and with it each other's fate.

use std::collections::BTreeSet;

use tabvisor::events::Event;
use tabvisor::{Error, Phase, Tab, Value};
use tabvisor_cdp::task::{self, Task};

use super::{expired, heard};
use crate::support::raw::{self, Bare};
use crate::support::stage::Stage;
use crate::support::{self, int, processes, secs};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_tabs_of_one_site_have_their_own_renderers_and_a_loop_in_one_holds_no_other() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let url = stage.page("");
    let mut tabs = Vec::new();
    for _ in 0..20 {
        tabs.push(running.tabvisor.open(&url).await.unwrap());
    }
    let address = raw::address(&running);
    let mut renderers = BTreeSet::new();
    for tab in &tabs {
        renderers.insert(processes::renderer_of(&address, &tab.row().unwrap().target_id).await);
    }
    assert_eq!(renderers.len(), tabs.len());
    let looping = looping(&stage, &tabs[0]).await;
    for tab in &tabs[1..] {
        assert_eq!(int(&tab.evaluate("1 + 1").within(secs(20)).await), 2);
    }
    assert!(!looping.is_finished(), "it looped all the while");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_the_process_limit_targets_made_with_an_address_share_a_renderer_and_ours_do_not() {
    let (stage, bare) =
        (Stage::start().await, Bare::start_with(|options| options.renderer_process_limit = 1).await);
    let url = stage.page("<script>fetch('/signal')</script>");
    let targets = [bare.create(&url).await, bare.create(&url).await];
    stage.signalled(2).await;
    let mut shared = BTreeSet::new();
    for target in &targets {
        shared.insert(processes::renderer_of(bare.address(), target).await);
    }
    assert_eq!(shared.len(), 1, "the limit does not make them share");
    bare.stop().await;
    // Opened empty first, a tab has its renderer before the address is known.
    let running = support::start_with(|config| config.browser.renderer_process_limit = 1).await;
    let tabs = [running.tabvisor.open(&url).await.unwrap(), running.tabvisor.open(&url).await.unwrap()];
    let looping = looping(&stage, &tabs[0]).await;
    assert_eq!(int(&tabs[1].evaluate("1 + 1").within(secs(20)).await), 2);
    assert!(!looping.is_finished());
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_looping_frame_of_another_site_leaves_the_page_around_it_usable() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let inner = stage.page("<script>onmessage = () => { fetch('/signal'); for (;;); }</script>");
    let outer = stage.page(&format!("<iframe src='{}'></iframe>", stage.other_site(&inner)));
    let tab = running.tabvisor.open(outer).await.unwrap();
    tab.evaluate("frames[0].postMessage('go', '*')").await.unwrap();
    stage.signalled(1).await;
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(20)).await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_popup_that_can_reach_its_opener_hangs_with_it_and_one_without_an_opener_does_not() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let opener = running.tabvisor.open(stage.page("")).await.unwrap();
    for (features, together) in [("", true), ("noopener", false)] {
        let mut events = running.tabvisor.subscribe();
        opener
            .evaluate(format!("window.open(location.href, '_blank', '{features}'); return 1"))
            .await
            .unwrap();
        let opened = heard(&mut events, |event| match event {
            Event::TabOpened { tab, .. } => Some(*tab),
            _ => None,
        });
        let popup = running.tabvisor.tab(opened.await).unwrap();
        assert_eq!(int(&popup.evaluate("1 + 1").await), 2);
        let looping = looping(&stage, &opener).await;
        let answer = popup.evaluate("1 + 1").within(secs(1)).await;
        if together {
            if let Some(waited) = expired(answer) {
                assert_eq!(waited.phase, Phase::Waiting);
                assert!(!waited.terminated && waited.blocked_by.is_some(), "{waited:?}");
            }
        } else {
            assert_eq!(int(&answer), 2);
        }
        assert!(!looping.is_finished());
        // Dropped, it is ended, and both are free.
        drop(looping);
        for tab in [&opener, &popup] {
            support::eventually("both are free", || async { tab.evaluate("1").await.ok() }).await;
        }
        popup.close().await.unwrap();
    }
    running.stop().await;
}

/// An evaluate that loops until it is dropped.
async fn looping(stage: &Stage, tab: &Tab) -> Task<Result<Value, Error>> {
    let signals = stage.signals();
    let call = tab.evaluate("fetch('/signal'); for (;;);").within(secs(100)).into_future();
    let looping = task::spawn(call);
    stage.signalled(signals + 1).await;
    looping
}
