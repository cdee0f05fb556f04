//! Tabs that pages open: told, followed, and not without end.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::eventually;
use support::http::Answer;
use support::served::{Served, assert_result, serve, serve_with};
use tabvisor::events::{Event, Item};

async fn refs(served: &Served, tab: &str) -> Value {
    served.http.get(&format!("/snapshot?targetId={tab}")).await["refs"].clone()
}

async fn click(served: &Served, tab: &str, refs: &Value, name: &str) -> Answer {
    let found = refs.as_object().unwrap().iter().find(|(_, it)| it["name"] == name);
    let (r#ref, _) = found.unwrap_or_else(|| panic!("no {name}: {refs}"));
    served.http.act(json!({ "kind": "click", "targetId": tab, "ref": r#ref })).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_tells_the_tabs_that_it_opens_however_they_are_opened() {
    let served = serve().await;
    let tab = served.open("/opens").await;
    let refs = refs(&served, &tab).await;
    for (name, paths) in
        [("Blank", &["/ok"][..]), ("Noopener", &["/ok"]), ("Window", &["/ok"]), ("Two", &["/ok", "/form"])]
    {
        let clicked = click(&served, &tab, &refs, name).await;
        assert_eq!(clicked.status, 200, "{clicked:?}");
        let opened = clicked["opened"].as_array().unwrap_or_else(|| panic!("{name} {clicked:?}"));
        assert_eq!(opened.len(), paths.len(), "{name} {clicked:?}");
        for (opened, path) in opened.iter().zip(paths) {
            let new = opened["tab"].as_str().unwrap();
            assert_eq!((&opened["opener"], &opened["url"]), (&json!(tab), &json!(served.pages.url(path))));
            assert_eq!(served.http.row(new).await["opener"], tab);
            // It is a tab like any other.
            assert_result(&served.http.evaluate(new, "1 + 1").await, 2);
            served.http.close(new).await;
        }
    }
    // One that the browser does not let the page open is not told.
    let blocked = click(&served, &tab, &refs, "Blocked").await;
    assert_eq!(blocked.status, 200, "{blocked:?}");
    assert!(!blocked.has("opened") && !blocked.has("openedTabs"), "{blocked:?}");
    eventually("the page knows it was blocked", || async {
        (served.http.evaluate(&tab, "said").await["result"] == json!(["null"])).then_some(())
    })
    .await;
    assert_eq!(served.http.tabs().await.len(), 1);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_opens_without_end_is_stopped_at_its_limit_and_its_siblings_are_fine() {
    let served = serve_with(|config| config.limits.popups_per_tab = 5).await;
    let sibling = served.open("/ok").await;
    let tab = served.open("/opens-without-end").await;
    let mut events = served.running.tabvisor.subscribe();
    served.http.evaluate(&tab, "go(60)").await;
    let told = async {
        loop {
            match events.next().await.unwrap() {
                Item::Event(it) => {
                    if let Event::PopupsClosed { tab, limit, closed } = it.event {
                        return (tab.to_string(), limit, closed);
                    }
                }
                Item::Lagged { .. } => panic!("the events of others are crowded out"),
            }
        }
    };
    assert_eq!(told.await, (tab.clone(), "limits.popups_per_tab", 1));
    eventually("all are asked for and those over the limit are closed", || async {
        let closed = served.http.row(&tab).await["popupsClosed"].as_u64();
        (closed == Some(55)).then_some(())
    })
    .await;
    let rows = served.http.tabs().await;
    assert_eq!(rows.iter().filter(|row| row["opener"] == tab).count(), 5, "{rows:?}");
    assert_result(&served.http.evaluate(&sibling, "document.title").await, "ok");
    assert_eq!(served.http.row(&sibling).await.get("popupsClosed"), None);
    // What a popup opens counts for the same page; a tab of a caller does not.
    let popup = rows.iter().find(|row| row["opener"] == tab).unwrap()["tabId"].as_str().unwrap();
    served.http.evaluate(popup, "open('/ok')").await;
    eventually("the popup is flagged", || async {
        (served.http.row(popup).await["popupsClosed"] == 1).then_some(())
    })
    .await;
    served.open("/ok").await;
    // Once one is closed there is room for another.
    served.http.close(popup).await;
    let opened = served.http.evaluate(&tab, "!!open('/form')").await;
    assert_result(&opened, true);
    eventually("there are five again", || async {
        let rows = served.http.tabs().await;
        (rows.iter().filter(|row| row["opener"] == tab).count() == 5).then_some(())
    })
    .await;
    served.stop().await;
}
