//! Which documents pages may load: before anything is sent, after each redirect, and whoever asks.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use support::{Pages, Running, eventually, int, kind, secs};
use tabvisor::{Error, Tab, TabError};
use tabvisor_page::navigate::{BadUrl, HostPattern};

async fn without(host: &str) -> (Pages, Running) {
    let deny = HostPattern::try_from(host.to_owned()).unwrap();
    let running = support::start_with(|config| config.navigation.deny = vec![deny]).await;
    (Pages::start().await, running)
}

fn denied<T: std::fmt::Debug>(outcome: Result<T, Error>, by: &str) {
    match outcome {
        Err(Error::Tab(TabError::BadUrl(BadUrl::Denied { host, by: why }))) => {
            assert_eq!(host, "localhost");
            assert!(why.contains(by), "{why}");
        }
        other => panic!("it was not denied: {other:?}"),
    }
}

async fn url(tab: &Tab) -> String {
    tab.evaluate("return location.href").await.unwrap().read().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_host_is_not_loaded_neither_directly_nor_by_redirects() {
    let (pages, running) = without("localhost").await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    denied(tab.navigate(&pages.other_site("/ok"), secs(20)).await, "navigation.deny");
    assert_eq!(url(&tab).await, pages.url("/ok"), "nothing was sent");
    denied(running.tabvisor.open(pages.other_site("/ok")).await, "navigation.deny");
    let restart = tabvisor::RestartRequest { rung: None, url: Some(pages.other_site("/ok")) };
    denied(tab.restart(restart, secs(20)).await, "navigation.deny");
    // By way of an allowed host, once and twice.
    let once = pages.url(&format!("/to?{}", pages.other_site("/ok")));
    denied(tab.navigate(&once, secs(20)).await, "navigation.deny");
    denied(tab.navigate(&pages.url(&format!("/to?{once}")), secs(20)).await, "navigation.deny");
    assert!(!url(&tab).await.contains("localhost"));
    denied(running.tabvisor.open(&*once).await, "navigation.deny");
    // What is allowed is loaded as ever, by redirects, too.
    let fine = pages.url(&format!("/to?{}", pages.url("/form")));
    assert_eq!(tab.navigate(&fine, secs(20)).await.unwrap().url, pages.url("/form"));
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_gets_nowhere_else_by_itself_nor_by_frames_and_popups() {
    let (pages, running) = without("localhost").await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let (there, around) = (pages.other_site("/ok"), pages.url(&format!("/to?{}", pages.other_site("/ok"))));
    for to in [&there, &around] {
        let frame = format!(
            "return new Promise(done => {{ const it = document.createElement('iframe'); it.onload = () => {{
               let read; try {{ read = it.contentDocument ? it.contentDocument.title : 'another site' }} catch {{ read = 'another site' }}
               done(it.getClientRects().length + read) }}; it.src = {to:?}; document.body.append(it) }})"
        );
        tab.evaluate(&frame).within(secs(20)).await.unwrap();
        tab.evaluate(format!("return window.open({to:?}) === null")).await.unwrap();
    }
    let requests = eventually("the page asked for all of them", || async {
        let heard = tab.requests(None, None).await.ok()?;
        (heard.rows.iter().filter(|row| row.failure_text.is_some()).count() >= 2).then_some(heard.rows)
    })
    .await;
    let loaded = |row: &&tabvisor::observe::Request| row.url.starts_with(&there) && row.status == Some(200);
    assert_eq!(requests.iter().find(loaded), None, "a frame was loaded");
    tab.evaluate(format!("setTimeout(() => location = {around:?}, 0)")).await.unwrap();
    eventually("it stays away from there", || async {
        let row = tab.row().unwrap();
        (row.error.is_some() || row.url == pages.url("/ok")).then_some(())
    })
    .await;
    // Popups are at no place where they may not be.
    eventually("the popups have failed", || async {
        let rows = running.tabvisor.tabs();
        let popups: Vec<_> = rows.iter().filter(|row| row.opener == Some(tab.id())).collect();
        (popups.len() == 2 && popups.iter().all(|row| row.error.is_some())).then_some(())
    })
    .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn private_networks_are_out_of_reach_where_that_is_said() {
    let pages = Pages::start().await;
    let running = support::start_with(|config| config.navigation.private_networks = false).await;
    for path in [pages.url("/ok"), pages.other_site("/ok")] {
        let refused = running.tabvisor.open(path).await;
        assert_eq!(kind(&refused), "navigation_blocked", "{refused:?}");
    }
    let tab = running.tabvisor.open("about:blank").await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_is_set_and_taken_back_changes_nothing_of_it() {
    let (pages, running) = without("localhost").await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let around = pages.url(&format!("/to?{}", pages.other_site("/ok")));
    let login = tabvisor::emulation::Credentials { username: "ada".into(), password: "love:lace".into() };
    for credentials in [Some(login), None] {
        tab.emulate(tabvisor::emulation::Setting::Credentials(credentials.clone())).await.unwrap();
        if credentials.is_some() {
            tab.navigate(&pages.url("/private"), secs(20)).await.unwrap();
        }
        denied(tab.navigate(&around, secs(20)).await, "navigation.deny");
    }
    running.stop().await;
}
