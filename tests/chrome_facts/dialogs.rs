//! Dialogs are heard of and answered only by who listened before they opened.

use serde_json::json;
use tabvisor::events::Event;
use tabvisor::{Error, EvaluateError, NavigateError, Tab, TabError, TabId, TabState, Tabvisor, WaitUntil};
use tabvisor_page::evaluate::BlockedBy;

use super::{expired, heard};
use crate::support::proxy::Proxy;
use crate::support::raw::{self, Bare, Raw, refusal, script, silent};
use crate::support::stage::Stage;
use crate::support::{self, Pages, Running, int, kind, ms, secs};

const NOT_SHOWING: (i64, &str) = (-32602, "No dialog is showing");

/// Answers the open dialog; the error is Chromium's.
async fn accept(session: &Raw) -> Result<(), (i64, String)> {
    match session.call("Page.handleJavaScriptDialog", json!({ "accept": true })).await {
        Ok(_) => Ok(()),
        refused => Err(refusal(refused)),
    }
}

/// Waits until the page answers nobody: its dialog is open.
async fn held(session: &Raw) {
    support::eventually("the page is held", || async {
        let mut alive = session.send("Runtime.evaluate", script("1")).await;
        silent(&mut alive).await.then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_made_with_an_address_runs_before_anybody_listens_and_nobody_can_answer_its_dialog() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let target = bare.create(&stage.page("<script>fetch('/signal'); alert('first words')</script>")).await;
    stage.signalled(1).await;
    let late = bare.attach(&target).await;
    held(&late).await;
    let mut events = late.session.subscribe(&["Page.javascriptDialogOpening"], 16);
    let mut listening = late.send("Page.enable", json!({})).await;
    assert!(silent(&mut listening).await, "a late session can listen: tabs need not be opened empty");
    assert!(events.try_next().is_none());
    assert_eq!(accept(&late).await, Err((NOT_SHOWING.0, NOT_SHOWING.1.into())));
    let close = json!({ "targetId": target });
    raw::call(&bare.browser.root(), "Target.closeTarget", close).await.unwrap();
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_answered_by_whoever_listened_and_by_nobody_once_the_last_listener_is_gone() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let deaf = bare.page(&stage.page("")).await;
    let [one, two] = [bare.attach(&deaf.target).await, bare.attach(&deaf.target).await];
    for listener in [&one, &two] {
        listener.call("Page.enable", json!({})).await.unwrap();
    }
    // With another listener left, one may go.
    let mut opening = two.session.subscribe(&["Page.javascriptDialogOpening"], 16);
    let answer = deaf.send("Runtime.evaluate", script("confirm('sure?')")).await;
    raw::next(&mut opening).await;
    drop(one);
    assert_eq!(accept(&deaf).await, Err((NOT_SHOWING.0, NOT_SHOWING.1.into())), "it never listened");
    accept(&two).await.unwrap();
    assert!(answer.await.unwrap().get().contains("true"));
    // Without one, nobody can answer any more; a navigation ends it.
    deaf.session.cast("Runtime.evaluate", script("confirm('sure?')"));
    raw::next(&mut opening).await;
    drop(two);
    held(&deaf).await;
    let late = bare.attach(&deaf.target).await;
    for session in [&deaf, &late] {
        assert_eq!(accept(session).await, Err((NOT_SHOWING.0, NOT_SHOWING.1.into())));
    }
    let elsewhere = stage.page("elsewhere");
    late.call("Page.navigate", json!({ "url": elsewhere })).await.unwrap();
    support::eventually("the page is free", || async {
        (late.evaluate("location.href").await == elsewhere).then_some(())
    })
    .await;
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_evaluate_and_page_links_may_die_under_a_dialog_and_it_is_still_known_and_answered() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let proxy = Proxy::to((std::net::Ipv4Addr::LOCALHOST, bare.address().port().unwrap()).into()).await;
    let state = tempfile::TempDir::new().unwrap();
    let mut config = support::config(&state);
    config.browser.cdp_url = Some(format!("ws://{}{}", proxy.address, bare.address().path()).into());
    let tabvisor = Tabvisor::start(config).await.unwrap();
    // The browser link, and those of the page that was there before us.
    let others = settled(&proxy).await;
    let tab = tabvisor.open(stage.page("")).await.unwrap();
    let listener = bare.attach(&tab.row().unwrap().target_id).await;
    listener.call("Page.enable", json!({})).await.unwrap();
    let mut events = tabvisor.subscribe();
    assert_eq!(kind(&tab.evaluate("confirm('sure?')").await), "dialog_open");
    // Those of its watcher and its observer are its first ones: it has no others before they listen.
    proxy.cut_from(others + 2);
    heard(&mut events, |event| matches!(event, Event::ActorRestarted { .. }).then_some(())).await;
    proxy.heal();
    let row = tab.row().unwrap();
    assert_eq!((row.state, row.dialog.unwrap().message.as_str()), (TabState::Dialog, "sure?"));
    assert_eq!(kind(&tab.evaluate("1").within(secs(20)).await), "dialog_open");
    accept(&listener).await.unwrap();
    heard(&mut events, |event| matches!(event, Event::DialogClosed { .. }).then_some(())).await;
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    tabvisor.stop().await;
    bare.stop().await;
}

/// How many connections there are, once no more come. That can only be waited for.
async fn settled(proxy: &Proxy) -> usize {
    loop {
        let seen = proxy.connections();
        tokio::time::sleep(ms(500)).await;
        if proxy.connections() == seen {
            return seen;
        }
    }
}

fn open_dialog<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Tab(
            TabError::Navigate(NavigateError::Dialog { dialog, .. })
            | TabError::Evaluate(EvaluateError::Dialog { dialog, .. }),
        )) => dialog.message,
        other => panic!("no dialog is named: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_very_first_words_of_a_page_that_we_open_are_named_at_once() {
    let pages = Pages::start().await;
    let running = support::start().await;
    // Far longer than this test may take.
    let opened = running.tabvisor.open(pages.url("/popup")).within(secs(100)).await;
    assert_eq!(open_dialog(opened), "first words");
    support::eventually("no tab is left", || async { running.tabvisor.tabs().is_empty().then_some(()) })
        .await;
    // Who waits for no more than the document gets a tab that says what holds it.
    let opened = running.tabvisor.open(pages.url("/popup")).until(WaitUntil::Commit).within(secs(100)).await;
    let tab = match opened {
        Ok(tab) => tab,
        // The dialog may be heard of before the commit.
        Err(error) => {
            assert_eq!(open_dialog(Err::<(), _>(error)), "first words");
            return running.stop().await;
        }
    };
    support::eventually("its row shows the dialog", || async {
        (tab.row().unwrap().state == TabState::Dialog).then_some(())
    })
    .await;
    assert_eq!(open_dialog(tab.evaluate("1").within(secs(100)).await), "first words");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_popup_without_an_opener_that_alerts_at_once_is_caught() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let (opener, popup) = popup(&running, &pages, "window.open(URL, '_blank', 'noopener'); return 1").await;
    assert_eq!(open_dialog(popup.evaluate("1").within(secs(100)).await), "first words");
    assert_eq!(int(&opener.evaluate("1 + 1").await), 2, "its opener is no part of it");
    popup.close().await.unwrap();
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_to_a_new_tab_that_alerts_at_once_is_caught() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let click =
        "const a = document.createElement('a'); a.href = URL; a.target = '_blank'; a.click(); return 1";
    let (opener, popup) = popup(&running, &pages, click).await;
    assert_eq!(open_dialog(popup.evaluate("1").within(secs(100)).await), "first words");
    assert_eq!(int(&opener.evaluate("1 + 1").await), 2, "its opener is no part of it");
    popup.close().await.unwrap();
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_popup_with_an_opener_that_alerts_at_once_is_caught_and_holds_its_opener_until_it_is_closed() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let (opener, popup) = popup(&running, &pages, "window.open(URL); return 1").await;
    assert_eq!(open_dialog(popup.evaluate("1").within(secs(100)).await), "first words");
    // They share a renderer, which an open dialog holds. The opener has no dialog of its own.
    if let Some(waited) = expired(opener.evaluate("1 + 1").within(secs(1)).await) {
        assert!(!waited.page_responsive && !waited.terminated, "{waited:?}");
        // What it is may not be known in time.
        assert!(matches!(waited.blocked_by, Some(BlockedBy::Native | BlockedBy::Unknown)), "{waited:?}");
    }
    popup.close().await.unwrap();
    support::eventually("the opener is free", || async { opener.evaluate("1").await.ok() }).await;
    assert_eq!(int(&opener.evaluate("1 + 1").await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_popup_without_an_opener_has_its_address_in_its_row() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let (_, popup) = popup(&running, &pages, "window.open('/ok', '_blank', 'noopener'); return 1").await;
    let href: String = popup.evaluate("location.href").await.unwrap().read().unwrap();
    assert_eq!(href, pages.url("/ok"));
    support::eventually("its row shows it", || async {
        let row = popup.row().unwrap();
        (row.url == href).then_some(())
    })
    .await;
    running.stop().await;
}

/// Opens `/popup` (at `URL`) from a page of ours, and waits for its tab; where it alerts, for the
/// dialog as well.
async fn popup(running: &Running, pages: &Pages, open: &str) -> (Tab, Tab) {
    let opener = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    opener.evaluate("1").await.unwrap();
    let mut events = running.tabvisor.subscribe();
    opener.evaluate(open.replace("URL", "'/popup'")).await.unwrap();
    let opened = |event: &Event| match event {
        Event::TabOpened { tab, opener, .. } => Some((*tab, *opener)),
        _ => None,
    };
    let (popup, by): (TabId, _) = heard(&mut events, opened).await;
    assert_eq!(by, Some(opener.id()));
    if open.contains("URL") {
        let dialog = |event: &Event| match event {
            Event::DialogOpened { tab, dialog } if *tab == popup => Some(dialog.message.clone()),
            _ => None,
        };
        assert_eq!(heard(&mut events, dialog).await, "first words");
        assert_eq!(running.tabvisor.tab(popup).unwrap().row().unwrap().state, TabState::Dialog);
    }
    (opener, running.tabvisor.tab(popup).unwrap())
}
