//! Titles and icons.

use serde_json::json;

use crate::support::Stage;

#[tokio::test]
async fn late_titles_and_icons_are_heard() {
    let mut stage = Stage::start().await;
    let known = stage.open("/titleless").await;
    assert_eq!(
        (known.state.title.as_str(), known.state.favicon),
        ("", Some(stage.url("/favicon.ico"))),
        "a guess"
    );
    let add_icon = "document.head.insertAdjacentHTML('beforeend', '<link rel=icon href=/late.png>')";
    let steps = [
        ("document.title = 'Late'", "Late", "/favicon.ico"),
        (add_icon, "Late", "/late.png"),
        ("document.querySelector('link').href = '/later.png'", "Late", "/later.png"),
        ("document.querySelector('title').firstChild.data = 'By text'", "By text", "/later.png"),
        ("document.querySelector('link').remove(); document.title = 'Kept'", "Kept", "/later.png"),
        (
            "document.head.replaceWith(document.createElement('head')); document.title = 'New head'",
            "New head",
            "/later.png",
        ),
        (
            "document.open(); document.write('<title>Written</title>x'); document.close()",
            "Written",
            "/later.png",
        ),
        ("document.title = 'After'", "After", "/later.png"),
    ];
    for (script, title, icon) in steps {
        stage.evaluate(&format!("{script}; 1")).await;
        let icon = Some(stage.url(icon));
        let known = stage
            .watch
            .until(script, |known| known.state.title == title && known.state.favicon == icon)
            .await;
        let kept = known.last_good.unwrap();
        assert_eq!((kept.title.as_str(), kept.favicon), (title, icon));
    }
    assert_eq!(stage.watch.state().generation, 2);
    // A document that replaces itself, without an event that says so.
    stage.evaluate("location.href = \"javascript:'<title>Replaced</title>x'\"; 1").await;
    stage.watch.until("replaced", |known| known.state.title == "Replaced").await;
    stage.evaluate("document.title = 'And observed'").await;
    stage.watch.until("and observed", |known| known.state.title == "And observed").await;
    let known = stage.open("/bodytitle").await;
    assert_eq!(known.state.title, "In the body");
    stage.stop().await;
}

/// While a page is left, its icon stays; and the new one does not inherit it.
#[tokio::test]
async fn a_page_that_prints_is_heard_and_not_held() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    assert_eq!(stage.evaluate("print(), 'printed'").await, "printed");
    stage.watch.until("prints", |known| known.state.prints == 1).await;
    let known = stage.open("/other").await;
    assert_eq!(known.state.prints, 0, "of this document");
    stage.stop().await;
}

#[tokio::test]
async fn only_a_commit_clears_the_icon() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    stage.watch.published();
    stage.navigate(&stage.url("/gate"));
    let leaving = stage.watch.until("it begins", |known| known.state.loading).await;
    assert_eq!(leaving.state.favicon, Some(stage.url("/i.png")));
    stage.server.open_gate();
    stage
        .watch
        .until("there", |known| {
            known.state.generation == 3 && !known.state.loading && known.state.favicon.is_some()
        })
        .await;
    let (old, guess) = (Some(stage.url("/i.png")), Some(stage.url("/favicon.ico")));
    for known in stage.watch.published() {
        let icon = &known.state.favicon;
        assert!(if known.state.generation == 2 { *icon == old } else { icon.is_none() || *icon == guess });
    }
    stage.stop().await;
}

#[tokio::test]
async fn what_is_too_long_is_cut_or_left_out() {
    let mut stage = Stage::start().await;
    let known = stage.open("/bigicon").await;
    assert_eq!(known.state.favicon, Some(stage.url("/small.png")));
    stage.evaluate("document.title = 'x'.repeat(100000)").await;
    stage.watch.until("cut", |known| known.state.title.len() == 4096).await;
    stage.evaluate("document.title = '\\u{1f600}'.repeat(100000)").await;
    stage.watch.until("cut whole", |known| known.state.title.starts_with('\u{1f600}')).await;
    assert!(stage.watch.state().title.len() <= 4096);
    // Half a character is no reason to be silent.
    stage.evaluate("document.title = 'half \\ud83d'; 1").await;
    stage.watch.until("half", |known| known.state.title.starts_with("half ")).await;
    stage.stop().await;
}

/// Few of four hundred titles are heard, the last one surely.
#[tokio::test]
async fn a_page_that_changes_all_the_time_is_heard_now_and_then() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    stage.watch.until("history", |known| known.state.can_go_back).await;
    stage.watch.published();
    // The history tells of none of them, so every title was reported.
    let script = "new Promise(done => {
        let n = 0;
        const next = () => { document.title = `n${++n}`; n < 400 ? setTimeout(next) : done(performance.now()) };
        next();
    })";
    let began = stage.evaluate("performance.now()").await.as_f64().unwrap();
    let ended = stage.evaluate(script).await.as_f64().unwrap();
    stage.watch.until("the last", |known| known.state.title == "n400").await;
    let heard = stage.watch.published().len();
    // By the page's own clock: one for every 100 ms (timers are not exact), the first and the last.
    let most = (ended - began) / 95.0 + 2.0;
    assert!(f64::from(u32::try_from(heard).unwrap()) <= most, "{heard} of 400, at most {most}");
    stage.stop().await;
}

/// Nothing of the observer can be seen by the page.
#[tokio::test]
async fn the_page_sees_nothing_of_it() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let names = "Object.getOwnPropertyNames(globalThis).sort().join()";
    let watched = stage.evaluate(names).await;
    assert_eq!(stage.evaluate("typeof tabvisorReport + typeof sayAgain").await, "undefinedundefined");
    // Ids of timers are counted for all worlds together.
    let ids = "new Promise(done => {
        const before = setTimeout(() => {});
        document.title = 'one';
        queueMicrotask(() => { document.title = 'two'; queueMicrotask(() => done(setTimeout(() => {}) - before)) });
    })";
    assert_eq!(stage.evaluate(ids).await, 1);
    stage.watch.until("it was heard", |known| known.state.title == "two").await;
    let (_, plain) = crate::support::new_tab(&stage.link).await;
    let params = json!({ "url": stage.url("/icon") });
    crate::support::call(&plain, "Page.enable", json!({})).await;
    let mut loaded = plain.subscribe(&["Page.loadEventFired"], 4);
    crate::support::call(&plain, "Page.navigate", params).await;
    crate::support::budget().run(loaded.next()).await.unwrap();
    let answer = crate::support::call(&plain, "Runtime.evaluate", json!({ "expression": names })).await;
    assert_eq!(answer["result"]["value"], watched, "as in a tab that nobody watches");
    stage.stop().await;
}
