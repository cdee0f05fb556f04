//! Snapshots and refs on a real Chromium.

#![expect(clippy::unwrap_used, reason = "a test may")]

#[path = "snapshot/pages.rs"]
mod pages;
#[path = "snapshot/support.rs"]
mod support;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use support::{Stage, budget, ref_of};
use tabvisor_page::refs::{Match, RefId, RefTable, StaleReason, is_attached};
use tabvisor_page::snapshot::{
    Capture, FrameState, Limits, Part, SnapshotError, TOO_DEEP, TextOptions, capture, find_in, list_aria,
    render_ai,
};

fn interactive() -> TextOptions {
    TextOptions { interactive: true, max_chars: 0, ..TextOptions::default() }
}

/// The lines without their indents.
fn flat(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_start).collect()
}

#[tokio::test]
async fn a_form_in_every_format() {
    let mut stage = Stage::start().await;
    stage.open("/form").await;
    let mut table = RefTable::default();
    let (page, rendered) = stage.role_with(&mut table, &interactive()).await;
    assert_eq!(
        flat(&rendered.text),
        [
            "- button \"Save\" [ref=e2]",
            "- button \"Save\" [ref=e3] [nth=1]",
            "- button \"Off\" [ref=e4] [disabled]",
            "- link \"Three\" [ref=e5]",
            "- textbox \"Name\" [ref=e6] value=\"Ada\"",
            "- textbox \"Secret\" [ref=e7] value=\"••••••\"",
            "- checkbox \"Agree\" [ref=e8] [checked]",
            "- combobox \"Pick\" [ref=e9] value=\"Two\"",
            "- option \"One\" [ref=e12]",
            "- option \"Two\" [ref=e13] [selected]",
            "- button \"Half\" [ref=e10] [pressed=mixed]",
            "- textbox \"Wrong\" [ref=e11] [invalid]",
        ]
    );
    let save = table.resolve("e3", &page.documents).unwrap();
    assert_eq!(find_in(page.main(), &save.role, &save.name, save.place), Match::One(save.backend_node_id));

    let ai = render_ai(&page, &mut table, &TextOptions::default(), None);
    let lines = flat(&ai.text);
    for line in [
        "- heading \"Head\" [level=1] [ref=e1]",
        "- button \"Save\" [ref=e3]",
        "- textbox \"Name\" [ref=e6]: Ada",
        "- /url: /three",
        "- option \"Two\" [selected] [ref=e13]",
        "- button \"Half\" [pressed=mixed] [ref=e10]",
    ] {
        assert!(lines.contains(&line), "{line} is not in\n{}", ai.text);
    }
    let aria = list_aria(&page, &mut table, None, 8);
    assert_eq!((aria.nodes.len(), aria.left_out > 0), (8, true));
    assert_eq!((aria.nodes[0].r#ref, &*aria.nodes[0].role), (Some(RefId::Aria { number: 1 }), "RootWebArea"));
    stage.stop().await;
}

#[tokio::test]
async fn shadow_trees_owned_elements_and_what_is_clickable_by_style() {
    let mut stage = Stage::start().await;
    stage.open("/shadow").await;
    let (_, rendered) = stage.role(&mut RefTable::default()).await;
    for wanted in [
        "button \"open button\"",
        "button \"closed button\"",
        "generic \"open clicky\"",
        "generic \"closed clicky\"",
    ] {
        assert!(rendered.text.contains(wanted), "{wanted} is not in\n{}", rendered.text);
    }
    let lines: Vec<&str> = rendered.text.lines().collect();
    let at = |what: &str| lines.iter().position(|line| line.contains(what)).unwrap();
    assert_eq!(at("list \"Owner\"") + 1, at("listitem \"Owned\""), "where its owner is:\n{}", rendered.text);

    stage.open("/clicky").await;
    let (_, rendered) = stage.role_with(&mut RefTable::default(), &interactive()).await;
    let lines: Vec<String> = flat(&rendered.text).iter().map(|line| without_ref(line)).collect();
    assert_eq!(
        lines,
        [
            "- button \"Real\"",
            "- generic \"By attribute\" [cursor:pointer, onclick]",
            "- generic \"by style\" [cursor:pointer]",
            "- generic \"By listener\" [onclick]",
            "- generic \"By tab\" [tabindex]",
            "- generic \"By editing\" value=\"By editing\" [contenteditable]",
            "- LabelText \"By label\" [hidden-radio]",
            "- generic [cursor:pointer]",
            "- button \"Ownpart\"",
        ]
    );
    assert_eq!(rendered.refs.len(), 9);
    stage.stop().await;
}

/// A line without its ref.
fn without_ref(line: &str) -> String {
    match line.split_once(" [ref=") {
        Some((before, after)) => format!("{before}{}", after.split_once(']').unwrap().1),
        None => line.to_owned(),
    }
}

#[tokio::test]
async fn every_frame_is_there_or_listed_as_what_it_is() {
    let mut stage = Stage::start().await;
    stage.open("/frames").await;
    let there = |text: &str| {
        ["generic \"Deep clicky\"", "textbox \"Name\"", "\"Broken\" [ref=e5] [frame=failed]"]
            .iter()
            .all(|it| text.contains(it))
    };
    let (page, _) = stage.until("all frames are there", |rendered| there(&rendered.text)).await;
    let mut table = RefTable::default();
    let rendered = tabvisor_page::snapshot::render_role(&page, &mut table, &interactive(), None);
    let text = &rendered.text;
    for line in [
        "- button \"Outside\" [ref=e1]",
        "- Iframe \"Same\" [ref=e2]",
        "- button \"Inside\" [ref=f1e1]",
        "- Iframe \"Innermost\" [ref=f1e2]",
        "- button \"Deep inside\" [ref=f2e1]",
        "- generic \"Deep clicky\" [ref=f2e2] [onclick]",
        "- Iframe \"Never\" [ref=e4] [frame=loading]",
        "- Iframe \"Broken\" [ref=e5] [frame=failed]",
        "- Iframe \"Blank\" [ref=e6]",
        "- Iframe \"Lazy\" [ref=e7] [frame=not-loaded]",
    ] {
        assert!(flat(text).contains(&line), "{line} is not in\n{text}");
    }
    let lines: Vec<&str> = text.lines().collect();
    let at = |what: &str| lines.iter().position(|line| line.contains(what)).unwrap();
    assert!(at("\"Cross\"") < at("\"Name\"") && at("\"Name\"") < at("\"Never\""), "{text}");
    assert!(lines[at("\"Name\"")].contains("[ref=f3e"), "{text}");
    let state = |state| page.frames.iter().filter(|frame| frame.state == state).count();
    assert_eq!([FrameState::Hidden, FrameState::Loading, FrameState::Read].map(state), [1, 1, 5]);
    assert_eq!(page.not_read.frames, 0);
    for entry in &rendered.refs {
        let found = table.resolve(&entry.id.to_string(), &page.documents).unwrap();
        assert_eq!(found.backend_node_id, entry.backend_node_id);
    }

    let few = Limits { frames: 2, ..Limits::default() };
    let few = capture(&stage.session, &[], &Part::default(), &few, &budget()).await.unwrap();
    assert_eq!((few.frames.len(), few.not_read.frames), (2, 6), "the other frames are counted");

    // Without a session for it, a frame of another process is named as not read.
    let alone = capture(&stage.session, &[], &Part::default(), &Limits::default(), &budget()).await.unwrap();
    let rendered = tabvisor_page::snapshot::render_role(&alone, &mut table, &interactive(), None);
    assert!(rendered.text.contains("\"Cross\" [ref=e3] [frame=not-read]"), "{}", rendered.text);
    stage.stop().await;
}

#[tokio::test]
async fn a_frame_that_is_stuck_costs_only_itself() {
    let mut stage = Stage::start().await;
    stage.open("/frames").await;
    stage.until("the cross-site frame is there", |it| it.text.contains("textbox \"Name\"")).await;
    let (_, cross) = stage.children().iter().find(|(_, it)| it.id().is_some()).unwrap().clone();
    let children = stage.children().to_vec();
    for (_, session) in &children {
        session.cast("Runtime.evaluate", serde_json::json!({ "expression": "for(;;);" }));
    }
    let limits = Limits { frame_patience: Duration::from_millis(500), ..Limits::default() };
    let page = capture(&stage.session, &children, &Part::default(), &limits, &budget()).await.unwrap();
    assert!(page.frames.iter().any(|frame| frame.state == FrameState::Busy));
    assert!(
        page.frames.iter().any(|frame| frame.url.ends_with("/innermost") && frame.state == FrameState::Read)
    );
    assert!(page.not_read.frames >= 1);
    let rendered =
        tabvisor_page::snapshot::render_role(&page, &mut RefTable::default(), &interactive(), None);
    assert!(rendered.text.contains("- Iframe \"Cross\" [ref=e3] [frame=busy]"), "{}", rendered.text);
    cross.cast("Runtime.terminateExecution", serde_json::json!({}));
    stage.stop().await;
}

async fn attached(stage: &Stage, page: &Capture, table: &RefTable, text: &str) -> bool {
    let found = table.resolve(text, &page.documents).unwrap();
    is_attached(&stage.session, &found.frame, found.backend_node_id.unwrap(), &budget()).await.unwrap()
}

#[tokio::test]
async fn refs_stay_with_their_elements_and_go_stale_with_them() {
    let mut stage = Stage::start().await;
    stage.open("/three").await;
    let mut table = RefTable::default();
    let (_, before) = stage.role_with(&mut table, &interactive()).await;
    assert_eq!(
        flat(&before.text),
        [
            "- button \"A\" [ref=e1]",
            "- button \"B\" [ref=e2]",
            "- button \"C\" [ref=e3]",
            "- link \"Go\" [ref=e4]",
        ]
    );

    // An insert before them, another order, another name, another address: the elements stay.
    stage
        .evaluate("document.querySelector('main').insertAdjacentHTML('afterbegin','<button>New</button>')")
        .await;
    stage.evaluate("history.pushState({},'','/pushed'); location.hash='x'").await;
    stage
        .evaluate("{const [,a,b]=document.querySelectorAll('button'); a.textContent='Renamed'; b.after(a)}")
        .await;
    let (page, after) = stage.role_with(&mut table, &interactive()).await;
    assert_eq!(
        flat(&after.text),
        [
            "- button \"New\" [ref=e5]",
            "- button \"B\" [ref=e2]",
            "- button \"Renamed\" [ref=e1]",
            "- button \"C\" [ref=e3]",
            "- link \"Go\" [ref=e4]",
        ]
    );

    // Removed: the page says so, and from then on the table does.
    assert!(attached(&stage, &page, &table, "e2").await);
    stage.evaluate("window.kept=document.querySelectorAll('button')[1]; kept.remove()").await;
    assert!(!attached(&stage, &page, &table, "e2").await);
    table.detached(RefId::read("e2").unwrap());
    assert_eq!(table.resolve("e2", &page.documents).unwrap_err().reason, StaleReason::NodeDetached);
    let (page, rendered) = stage.role_with(&mut table, &interactive()).await;
    assert!(!rendered.text.contains("ref=e2]"));
    assert_eq!(table.resolve("e2", &page.documents).unwrap_err().reason, StaleReason::NodeDetached);
    // A twin in its place is another element; the very element that comes back is itself.
    stage
        .evaluate("document.querySelector('main').insertAdjacentHTML('beforeend','<button>B</button>')")
        .await;
    let (_, rendered) = stage.role_with(&mut table, &interactive()).await;
    assert_eq!(ref_of(&rendered, "button", "B"), "e6");
    stage.evaluate("document.querySelector('main').prepend(kept)").await;
    let (page, _) = stage.role_with(&mut table, &interactive()).await;
    assert!(attached(&stage, &page, &table, "e2").await);

    // Another document, even of the same address: everything is stale, and no number comes again.
    stage.open("/three").await;
    let now = stage.capture().await;
    assert_eq!(table.resolve("e3", &now.documents).unwrap_err().reason, StaleReason::DocumentChanged);
    let (page, rendered) = stage.role_with(&mut table, &interactive()).await;
    assert_eq!(ref_of(&rendered, "button", "A"), "e7");
    assert_eq!(table.resolve("e1", &page.documents).unwrap_err().reason, StaleReason::DocumentChanged);
    stage.stop().await;
}

#[tokio::test]
async fn refs_of_a_frame_go_stale_with_its_document() {
    let mut stage = Stage::start().await;
    stage.open("/frames").await;
    let (page, _) =
        stage.until("the inner frames are there", |it| it.text.contains("generic \"Deep clicky")).await;
    let mut table = RefTable::default();
    tabvisor_page::snapshot::render_role(&page, &mut table, &interactive(), None);
    assert_eq!(&*table.resolve("f2e1", &page.documents).unwrap().name, "Deep inside");
    let inner = "document.querySelector('iframe').contentWindow";
    stage.evaluate(&format!("new Promise(done => {{ document.querySelector('iframe').onload = done; {inner}.location = '/three' }}).then(() => 1)")).await;
    let (page, rendered) = stage.role_with(&mut table, &interactive()).await;
    for text in ["f1e1", "f2e1"] {
        assert_eq!(
            table.resolve(text, &page.documents).unwrap_err().reason,
            StaleReason::FrameChanged,
            "{text}"
        );
    }
    assert_eq!(ref_of(&rendered, "button", "A"), "f1e3", "the frame is the same, its numbers go on");
    assert_eq!(ref_of(&rendered, "button", "Outside"), "e1");
    stage.stop().await;
}

#[tokio::test]
async fn large_and_deep_pages_are_bounded_and_say_so() {
    let mut stage = Stage::start().await;
    stage.open("/big?n=2000").await;
    let mut table = RefTable::default();
    let (page, all) =
        stage.role_with(&mut table, &TextOptions { max_chars: 0, ..TextOptions::default() }).await;
    assert_eq!((page.not_read.nodes, all.truncated, all.refs.len()), (0, false, 1500));
    let (_, cut) = stage.role_with(&mut table, &TextOptions::default()).await;
    assert!(cut.truncated && cut.stats.chars <= 40_000 && cut.lines_left_out > 1000);

    let limits = Limits { nodes: 100, ..Limits::default() };
    let few = capture(&stage.session, &[], &Part::default(), &limits, &budget()).await.unwrap();
    assert!(few.main().tree.nodes.len() <= 200 && few.not_read.nodes > 2000, "{:?}", few.not_read);

    stage.open("/deep?n=500").await;
    let (page, rendered) = stage.role_with(&mut table, &TextOptions::default()).await;
    assert!(page.not_read.nodes > 300, "{:?}", page.not_read);
    assert!(rendered.truncated && rendered.text.contains(TOO_DEEP) && rendered.text.contains("\"Top\""));
    let ai = render_ai(&page, &mut table, &TextOptions::default(), None);
    assert!(ai.truncated && ai.text.contains(TOO_DEEP));
    stage.stop().await;
}

#[tokio::test]
async fn a_page_with_broken_strings_can_be_read() {
    let mut stage = Stage::start().await;
    stage.open("/three").await;
    stage.evaluate("document.querySelector('button').textContent='x\\ud800y'; document.querySelector('a').setAttribute('aria-label','\\udc00')").await;
    let (_, rendered) = stage.role_with(&mut RefTable::default(), &interactive()).await;
    assert!(rendered.text.contains("\"x\u{fffd}y\""), "{}", rendered.text);
    stage.stop().await;
}

#[tokio::test]
async fn a_stuck_page_ends_with_the_budget() {
    let stage = Stage::start().await;
    stage.open("/three").await;
    stage.session.cast("Runtime.evaluate", serde_json::json!({ "expression": "for(;;);" }));
    let short = tabvisor_cdp::budget::Budget::new(Duration::from_millis(300));
    let error = capture(&stage.session, &[], &Part::default(), &Limits::default(), &short).await.unwrap_err();
    assert!(matches!(error, SnapshotError::Link(tabvisor_cdp::error::CdpError::Spent { .. })), "{error:?}");
    stage.stop().await;
}

/// Changes the list of buttons at random; every element carries a stamp that no snapshot sees.
const CHANGE: &str = r"(seed => {
  const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648, Math.floor(seed / 65536) % n);
  const main = document.querySelector('main'), at = n => main.children[random(n)];
  const insert = (name, before) => {
    const made = document.createElement(random(4) ? 'button' : 'div');
    made.textContent = name; made.stamp = window.last = (window.last || 0) + 1;
    if (made.tagName === 'DIV') made.style.cursor = 'pointer';
    main.insertBefore(made, before);
  };
  for (const child of main.children) child.stamp ||= window.last = (window.last || 0) + 1;
  for (let changes = random(4); changes >= 0; changes--) {
    const n = main.children.length;
    switch (n < 3 ? 0 : n > 12 ? 1 : random(6)) {
      case 0: insert('ABC'[random(3)], at(n + 1) || null); break;
      case 1: at(n).remove(); break;
      case 2: main.insertBefore(at(n), at(n)); break;
      case 3: at(n).textContent = 'ABC'[random(3)]; break;
      case 4: { const old = at(n), name = old.textContent; insert(name, old); old.remove(); break; }
      case 5: { const kept = [...main.children]; main.replaceChildren(...kept.reverse()); break; }
    }
  }
})";

#[tokio::test]
async fn a_ref_never_names_another_element() {
    let mut stage = Stage::start().await;
    stage.open("/three").await;
    let mut table = RefTable::default();
    let mut stamps: HashMap<String, Value> = HashMap::new();
    let steps = std::env::var("TABVISOR_SOAK_REFS").ok().and_then(|it| it.parse().ok()).unwrap_or(40);
    for seed in 1..=steps {
        stage.evaluate(&format!("{CHANGE}({})", seed * 7919)).await;
        let (page, rendered) = stage.role_with(&mut table, &interactive()).await;
        let shown: Vec<String> = rendered.refs.iter().map(|entry| entry.id.to_string()).collect();
        let gone: Vec<String> = stamps.keys().filter(|text| !shown.contains(text)).cloned().collect();
        for text in shown {
            let found = table.resolve(&text, &page.documents).unwrap();
            let stamp = stage.stamp(found.backend_node_id.unwrap()).await;
            assert_eq!(
                stamps.entry(text.clone()).or_insert_with(|| stamp.clone()),
                &stamp,
                "{text}, step {seed}"
            );
        }
        // What a snapshot does not show any more was removed, and the page knows.
        for text in gone {
            if let Ok(found) = table.resolve(&text, &page.documents) {
                let (id, frame, node) = (found.id, found.frame.clone(), found.backend_node_id.unwrap());
                assert!(
                    !is_attached(&stage.session, &frame, node, &budget()).await.unwrap(),
                    "{text}, step {seed}"
                );
                table.detached(id);
            }
        }
    }
    assert!(stamps.len() > 20);
    stage.stop().await;
}
