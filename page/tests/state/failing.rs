//! Loads that fail.

use tabvisor_page::state::PageError;

use crate::support::{Stage, refused};

fn error(code: i32, name: &str, url: &str) -> PageError {
    PageError { code, description: format!("net::ERR_{name}"), url: url.into() }
}

/// Shows what failed and why; and a good page afterwards shows nothing of it.
#[tokio::test]
async fn failures_by_name_and_number() {
    let mut stage = Stage::start().await;
    let good = stage.open("/icon").await.last_good;
    let failures = [
        (refused().await, -102, "CONNECTION_REFUSED"),
        (stage.url("/broken"), -324, "EMPTY_RESPONSE"),
        (stage.url("/empty404"), -379, "HTTP_RESPONSE_CODE_FAILURE"),
        (stage.url("/icon").replace("http:", "https:"), -107, "SSL_PROTOCOL_ERROR"),
        ("http://127.0.0.1:1/".to_owned(), -312, "UNSAFE_PORT"),
        ("http://nowhere.invalid/".to_owned(), -105, "NAME_NOT_RESOLVED"),
    ];
    for (url, code, name) in failures {
        stage.navigate(&url);
        let wanted = Some(error(code, name, &url));
        let known =
            stage.watch.until(name, |known| known.state.error == wanted && !known.state.loading).await;
        assert_eq!((&known.state.url, known.state.title.as_str()), (&url, ""), "{name}");
        assert_eq!((&known.state.favicon, &known.last_good), (&None, &good), "{name}");
    }
    let known = stage.open("/full404").await;
    assert_eq!((known.state.title.as_str(), known.state.error), ("Not here", None));
    assert_eq!(known.last_good.unwrap().url, stage.url("/full404"));
    stage.stop().await;
}

/// Chromium reloads a failed page at about 1 s and 6 s.
#[tokio::test]
async fn an_error_survives_chromiums_own_retries() {
    let mut stage = Stage::start().await;
    let url = stage.url("/broken");
    stage.navigate(&url);
    let wanted = Some(error(-324, "EMPTY_RESPONSE", &url));
    stage.watch.until("it failed", |known| known.state.error == wanted && !known.state.loading).await;
    let first = stage.watch.state();
    stage.watch.published();
    // One request may be tried twice on the wire; a retry is heard to begin.
    let mut heard = Vec::new();
    for retry in 1..=2 {
        heard.extend(stage.watch.hear(&format!("retry {retry}"), |state| state.loading).await);
        heard.extend(stage.watch.hear(&format!("retry {retry} ended"), |state| !state.loading).await);
    }
    assert!(stage.server.asked("/broken") > 2);
    for known in heard {
        assert_eq!(known.state.error, wanted);
        assert_eq!((known.state.generation, &known.state.url), (first.generation, &first.url));
    }
    let known = stage.open("/plain").await;
    assert_eq!(known.state.error, None);
    stage.stop().await;
}
