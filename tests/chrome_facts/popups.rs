//! A page that waits at its birth holds the promises of the page that opened it.

use serde_json::{Value, json};
use tabvisor::TabId;

use crate::support::raw::{self, Bare, silent};
use crate::support::stage::Stage;
use crate::support::{self, int, secs};

/// Opens a page of the same site, which shares the renderer, and then has a promise settled by a timer.
const OPENS: &str = "(async () => { open('/0'); await new Promise(it => setTimeout(it, 50)); return 7 })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_popup_that_is_closed_before_it_ran_leaves_its_openers_promises_pending() {
    for released in [false, true] {
        let (stage, bare) = (Stage::start().await, Bare::start().await);
        let opener = bare.page(&stage.page("")).await;
        let root = bare.browser.root();
        let mut attached = root.subscribe(&["Target.attachedToTarget"], 64);
        let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        raw::call(&root, "Target.setAutoAttach", auto).await.unwrap();
        let asked = json!({
            "expression": OPENS, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let mut promised = opener.send("Runtime.evaluate", asked).await;
        let popup: Value = loop {
            let event = raw::next(&mut attached).await;
            let params: Value = serde_json::from_str(event.params.get()).unwrap();
            if params["targetInfo"]["openerId"] == json!(opener.target) {
                break params;
            }
        };
        if released {
            let session = root.sibling(popup["sessionId"].as_str().unwrap());
            session.cast("Runtime.runIfWaitingForDebugger", json!({}));
        }
        let close = json!({ "targetId": popup["targetInfo"]["targetId"] });
        raw::call(&root, "Target.closeTarget", close).await.unwrap();
        if released {
            assert!(promised.await.unwrap().get().contains("\"value\":7"));
        } else {
            assert!(silent(&mut promised).await, "the opener is free: a popup need not run first");
        }
        bare.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_limit_a_popup_breaks_its_opener_goes_on() {
    for tabs in [1, 100] {
        let stage = Stage::start().await;
        let limits = |config: &mut tabvisor::Config| {
            (config.limits.tabs, config.limits.popups_per_tab) = (tabs, 1);
        };
        let running = support::start_with(limits).await;
        let tab = running.tabvisor.open(stage.page("")).await.unwrap();
        let closed = |id: TabId| running.tabvisor.supervisor().tab(id).unwrap().popups_closed;
        for opened in 0..3 {
            assert_eq!(int(&tab.evaluate(OPENS).within(secs(20)).await), 7, "popup {opened}");
        }
        let over = if tabs == 1 { 3 } else { 2 };
        support::eventually("those over the limit are closed", || async {
            (closed(tab.id()) == over).then_some(())
        })
        .await;
        running.stop().await;
    }
}
