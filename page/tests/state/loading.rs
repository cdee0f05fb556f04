//! Documents that come, and loads that end without one.

use serde_json::json;

use crate::support::Stage;

#[tokio::test]
async fn a_plain_load_and_what_is_published_of_it() {
    let mut stage = Stage::start().await;
    let blank = stage.watch.state();
    assert_eq!((blank.url.as_str(), blank.favicon, blank.generation), ("about:blank", None, 1));
    assert!(stage.watch.now.borrow().last_good.is_none());
    stage.watch.published();
    let url = stage.url("/icon#part");
    let known = stage.open("/icon#part").await;
    assert_eq!((known.state.url.as_str(), known.state.title.as_str()), (url.as_str(), "Icon"));
    assert_eq!(known.state.favicon, Some(stage.url("/i.png")));
    let known = stage.watch.until("history", |known| known.state.can_go_back).await;
    assert!(!known.state.can_go_forward && known.state.error.is_none());
    assert_eq!(known.last_good.unwrap().url, url);
    let published = stage.watch.published();
    assert!(published.windows(2).all(|pair| pair[0] != pair[1]), "only changes are published");
    let begun = published.iter().find(|it| it.state.loading).unwrap();
    assert_eq!((begun.state.url.as_str(), begun.state.generation), ("about:blank", 1), "until it commits");
    let committed = published.iter().find(|it| it.state.generation == 2).unwrap();
    assert_eq!((committed.state.title.as_str(), &committed.state.favicon), ("", &None));
    stage.stop().await;
}

#[tokio::test]
async fn a_redirect_ends_where_it_leads() {
    let mut stage = Stage::start().await;
    let known = stage.open("/redirect").await;
    assert_eq!((known.state.url, known.state.generation), (stage.url("/plain"), 2));
    stage.stop().await;
}

#[tokio::test]
async fn hash_and_push_state_keep_the_document() {
    let mut stage = Stage::start().await;
    let first = stage.open("/icon").await.state;
    stage.watch.published();
    stage.evaluate("location.hash = 'h'").await;
    let url = stage.url("/icon#h");
    let hash = stage.watch.until("hash", |known| known.state.url == url).await.state;
    stage.evaluate("history.pushState(1, '', '/pushed'); document.title = 'Pushed'").await;
    let url = stage.url("/pushed");
    stage.watch.until("title", |known| known.state.title == "Pushed" && known.state.url == url).await;
    stage.evaluate("history.back()").await;
    let url = stage.url("/icon#h");
    let back = |known: &tabvisor_page::state::Known| known.state.url == url && known.state.can_go_forward;
    stage.watch.until("back", back).await;
    assert_eq!((hash.generation, &hash.favicon), (first.generation, &first.favicon));
    for known in stage.watch.published() {
        assert_eq!(known.state.document, first.document);
        assert!(known.state.favicon == first.favicon && !known.state.loading, "{known:?}");
    }
    stage.stop().await;
}

/// A frame that comes late, moves, fails, is refused, is named with a title and an icon: nothing of it is
/// the tab's.
#[tokio::test]
async fn frames_inside_change_nothing() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let url = stage.url("/icon");
    // The history may still be on its way.
    stage.watch.until("history", |known| known.state.can_go_back).await;
    let before = stage.watch.now.borrow().clone();
    stage.watch.published();
    let refused = crate::support::refused().await;
    let script = format!(
        "const add = src => new Promise(done => {{
           const frame = document.createElement('iframe');
           frame.onload = () => done(frame); frame.src = src; document.body.append(frame);
         }});
         (async () => {{
           const frame = await add('/other');
           frame.contentWindow.history.replaceState(1, '', '/inner');
           frame.contentWindow.location.hash = 'x';
           frame.contentDocument.title = 'Inner';
           await add('{refused}'); await add('/empty404'); await add('/broken');
           const there = await add('http://localhost:{port}/other');
           there.src = 'http://localhost:{port}/icon'; await new Promise(done => there.onload = done);
         }})()",
        port = stage.server.port,
    );
    stage.evaluate(&script).await;
    // Something of the page's own, behind everything that the frames said.
    stage.evaluate("document.title = 'Last'").await;
    stage.watch.until("the last", |known| known.state.title == "Last").await;
    for mut known in stage.watch.published() {
        assert_eq!(known.state.url, url);
        // Frames that move add to the history of the tab.
        known.state.title.clone_from(&before.state.title);
        known.last_good.clone_from(&before.last_good);
        assert_eq!(known, before);
    }
    stage.stop().await;
}

/// No content, a download, stopped before the commit: the page stays as it is.
#[tokio::test]
async fn a_load_without_a_document_leaves_the_page() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let before = stage.watch.until("history", |known| known.state.can_go_back).await;
    for path in ["/204", "/dl", "/never"] {
        stage.watch.published();
        let reply = {
            let params = json!({ "url": stage.url(path) });
            stage.session.send("Page.navigate", params).await.unwrap()
        };
        let mut heard = stage.watch.hear(&format!("{path} begins"), |state| state.loading).await;
        if path == "/never" {
            stage.call("Page.stopLoading", json!({})).await;
        }
        let answer: serde_json::Value = serde_json::from_str(reply.await.unwrap().get()).unwrap();
        assert_eq!(
            (&answer["errorText"], &answer["isDownload"]),
            (&json!("net::ERR_ABORTED"), &json!(path == "/dl"))
        );
        heard.extend(stage.watch.hear(&format!("{path} ends"), |state| !state.loading).await);
        assert_eq!(heard.last(), Some(&before), "{path}");
        for mut known in heard {
            known.state.loading = false;
            assert_eq!(known, before, "{path}");
        }
    }
    stage.stop().await;
}

#[tokio::test]
async fn a_slow_load_is_superseded() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let never = stage.url("/never");
    stage.navigate(&never);
    stage.watch.until("it begins", |known| known.state.loading).await;
    let known = stage.open("/other").await;
    assert_eq!((known.state.title.as_str(), known.state.generation), ("Other", 3));
    assert!(stage.watch.published().iter().all(|known| known.state.url != never));
    stage.stop().await;
}

/// No load event comes; that loading ends is said all the same.
#[tokio::test]
async fn stopped_after_the_commit() {
    let mut stage = Stage::start().await;
    let url = stage.url("/endless");
    stage.navigate(&url);
    let there =
        stage.watch.until("there", |known| known.state.url == url && known.state.title == "Endless").await;
    assert!(there.state.loading);
    stage.call("Page.stopLoading", json!({})).await;
    let known = stage.watch.until("stopped", |known| !known.state.loading).await;
    assert_eq!((known.state.url, known.state.error), (url, None));
    stage.stop().await;
}

#[tokio::test]
async fn a_restored_page_has_its_title_and_icon_again() {
    let mut stage = Stage::start().await;
    let first = stage.open("/icon").await.state;
    stage.open("/other").await;
    stage.watch.published();
    stage.evaluate("history.back()").await;
    let known = stage
        .watch
        .until("restored", |known| known.state.title == "Icon" && known.state.favicon.is_some())
        .await;
    assert_eq!((&known.state.url, &known.state.favicon), (&first.url, &first.favicon));
    assert_eq!((known.state.generation, known.state.loading), (first.generation + 2, false));
    // It is the document that it was.
    assert_eq!(known.state.document, first.document);
    stage.watch.until("history", |known| known.state.can_go_forward).await;
    // And it is observed again.
    stage.evaluate("document.title = 'Alive'").await;
    stage.watch.until("observed", |known| known.state.title == "Alive").await;
    stage.stop().await;
}

/// A link, a form, a reload, a script: each is heard to begin.
#[tokio::test]
async fn what_the_page_starts_itself_is_loading_too() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let steps = [
        ("document.body.innerHTML = '<a href=/other>x</a>'; document.querySelector('a').click()", "/other"),
        ("document.body.innerHTML = '<form action=/icon></form>'; document.forms[0].submit()", "/icon?"),
        ("location.reload()", "/icon?"),
        ("location = '/plain'", "/plain"),
    ];
    for (script, path) in steps {
        let before = stage.watch.state().generation;
        stage.watch.published();
        stage.evaluate(&format!("setTimeout(() => {{ {script} }}); 1")).await;
        let url = stage.url(path);
        let done = |known: &tabvisor_page::state::Known| {
            known.state.url == url && known.state.generation > before && !known.state.loading
        };
        stage.watch.until(path, done).await;
        let published = stage.watch.published();
        let begun =
            |known: &&tabvisor_page::state::Known| known.state.loading && known.state.generation == before;
        assert!(published.iter().any(|known| begun(&known)), "{path}: {published:?}");
    }
    stage.stop().await;
}
