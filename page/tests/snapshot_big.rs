//! Pages that are too much: an answer within its budget, and what is missing is said.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all snapshot tests")]

#[path = "snapshot/pages.rs"]
mod pages;
#[path = "snapshot/room.rs"]
mod room;
#[path = "snapshot/support.rs"]
mod support;

use std::time::Duration;

use room::{Room, text};
use tabvisor_page::snapshot::{Request, TOO_DEEP, TOO_LARGE};

#[tokio::test]
async fn two_hundred_thousand_elements() {
    let mut room = Room::open("/big?n=200000").await;
    // Chromium alone takes a quarter of it on a busy machine.
    room.patience = Duration::from_mins(2);
    let first = room.take(&Request { compact: Some(true), ..Request::default() }).await;
    let missing = first.missing.clone().unwrap();
    assert!(first.truncated && missing.nodes > 300_000, "{missing:?}");
    assert!(text(&first).contains("button \"button 0\" [ref=e1]"), "{}", text(&first));
    assert!(text(&first).contains("[...INCOMPLETE - not read: ") && text(&first).contains(TOO_LARGE));
    assert!(text(&first).encode_utf16().count() <= 40_000);
    let request = Request { compact: Some(true), after: first.next.clone(), ..Request::default() };
    let second = room.take(&request).await;
    let given = text(&first).lines().rfind(|line| line.contains("[ref=")).unwrap();
    assert!(!text(&second).contains(given) && text(&second).contains("[ref="), "{}", text(&second));
    // The link is still there, and so is the page.
    assert_eq!(room.stage.evaluate("document.querySelectorAll('button').length").await, 50_000);
    room.stage.stop().await;
}

#[tokio::test]
async fn five_thousand_levels() {
    // The parser nests the first 512 of them, and puts the others beside one another.
    let mut room = Room::open("/deep?n=5000").await;
    deep(&mut room, "\"Top\"").await;
    // Scripts nest without a limit; at 5000 boxes in one another Chromium's own layout crashes.
    room.stage.open("/three").await;
    let build = "{let at = document.querySelector('main'); for (let n = 0; n < 2500; n++) {
        const made = document.createElement('section'); made.setAttribute('aria-label', 's' + n); at.append(made); at = made }
        at.innerHTML = '<button id=bottom>Bottom</button>'; 1}";
    room.stage.evaluate(build).await;
    deep(&mut room, "button \"A\"").await;
    // What is too deep for the whole is there as a part.
    let bottom = room.text(&Request { selector: Some("#bottom".into()), ..Request::default() }).await;
    assert!(bottom.starts_with("- button \"Bottom\""), "{bottom}");
    room.stage.stop().await;
}

async fn deep(room: &mut Room, there: &str) {
    let all = Request { compact: Some(true), max_chars: Some(0), ..Request::default() };
    for request in [Request::default(), all] {
        let deep = room.take(&request).await;
        assert!(deep.truncated && deep.missing.as_ref().unwrap().too_deep, "{:?}", deep.missing);
        assert!(text(&deep).contains(TOO_DEEP) && text(&deep).contains(there), "{}", text(&deep));
    }
}

#[tokio::test]
async fn three_hundred_frames() {
    let mut room = Room::open("/many?n=300").await;
    let request = Request { interactive: Some(true), ..Request::default() };
    let many = room.take(&request).await;
    let missing = many.missing.clone().unwrap();
    assert!(many.truncated && text(&many).contains("[...INCOMPLETE - not read: "), "{}", text(&many));
    assert!(missing.frames.len() + missing.more_frames >= 200, "{missing:?}");
    assert!(text(&many).contains("button \"In frame\" [ref=f1e1]"));
    // Each of them can be asked for.
    let last = Request { frame: Some("#f299".into()), ..request };
    let last = room.until(&last, |text| text.contains("button \"In frame\"")).await;
    assert_eq!(last.lines().count(), 1, "{last}");
    room.stage.stop().await;
}

#[tokio::test]
async fn a_page_that_changes_on_every_frame() {
    let mut room = Room::open("/three").await;
    let start = "{const main = document.querySelector('main'); let n = 0;
        const change = () => { main.append(main.firstElementChild); main.insertAdjacentHTML('afterbegin', `<button>n${n++}</button>`);
            if (main.childElementCount > 50) main.lastElementChild.remove(); requestAnimationFrame(change) };
        change(); 1}";
    room.stage.evaluate(start).await;
    for request in [Request::default(), Request { efficient: true, ..Request::default() }] {
        for _ in 0..5 {
            let snapshot = room.take(&request).await;
            assert!(text(&snapshot).contains("button \"n"), "{}", text(&snapshot));
        }
    }
    room.stage.stop().await;
}
