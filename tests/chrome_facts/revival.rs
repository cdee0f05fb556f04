//! A page that a navigation has just brought back: what a session attached then is worth.

use serde_json::json;
use tabvisor_cdp::budget::Budget;

use crate::support::raw::{self, Bare};
use crate::support::stage::Stage;
use crate::support::ms;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn measure_revival() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    for when in ["dead", "sent", "reloaded", "reloaded+2", "reloaded+10", "reloaded+30", "committed"] {
        let mut silent = 0;
        let mut later = 0;
        let mut second = 0;
        for _ in 0..8 {
            let page = bare.page(&stage.page("")).await;
            page.call("Page.enable", json!({})).await.unwrap();
            let mut crashed = page.session.subscribe(&["Inspector.targetCrashed"], 16);
            let mut reloaded = page.session.subscribe(&["Inspector.targetReloadedAfterCrash"], 16);
            let mut committed = page.session.subscribe(&["Page.frameNavigated"], 16);
            page.session.cast("Page.crash", json!({}));
            raw::next(&mut crashed).await;
            let late;
            if when == "dead" {
                late = bare.attach(&page.target).await;
                page.session.cast("Page.navigate", json!({ "url": stage.page("") }));
            } else {
                page.session.cast("Page.navigate", json!({ "url": stage.page("") }));
                match when {
                    "sent" => {}
                    "committed" => { raw::next(&mut committed).await; }
                    _ => {
                        raw::next(&mut reloaded).await;
                        let wait = when.strip_prefix("reloaded+").map_or(0, |n| n.parse().unwrap());
                        if wait > 0 { tokio::time::sleep(ms(wait)).await; }
                    }
                }
                late = bare.attach(&page.target).await;
            }
            let mut answer = late.send("Runtime.evaluate", raw::script("1")).await;
            if Budget::new(ms(1500)).run(&mut answer).await.is_err() {
                silent += 1;
                // Again on the same session, and on another one.
                let again = late.send("Runtime.evaluate", raw::script("1")).await;
                if Budget::new(ms(500)).run(again).await.is_ok() { later += 1 }
                let other = bare.attach(&page.target).await;
                let again = other.send("Runtime.evaluate", raw::script("1")).await;
                if Budget::new(ms(500)).run(again).await.is_ok() { second += 1 }
            }
            assert_eq!(page.evaluate("1").await, 1);
        }
        println!("attached {when}: {silent} of 8 silent; again on it {later}, on another {second}");
    }
    bare.stop().await;
}
