//! Whatever a page does to its elements, no ref ever names another one.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all snapshot tests")]

#[path = "snapshot/pages.rs"]
mod pages;
#[path = "snapshot/room.rs"]
mod room;
#[path = "snapshot/support.rs"]
mod support;

use std::collections::HashMap;

use room::Room;
use serde_json::json;
use tabvisor_page::refs::FrameId;
use tabvisor_page::snapshot::{Body, Format, Request};

/// Changes of the page between two snapshots, and how many snapshots.
const STEPS: usize = 100;
const ROUNDS: usize = 100;
/// Refs of earlier snapshots that are looked at in every round, another choice each time.
const MOST_OLD: usize = 150;

/// Elements are told apart by what only the test can ask for: no attribute, no property.
const SETUP: &str = r"(() => {
  const known = new WeakMap(), root = document.querySelector('main');
  root.innerHTML = '<div class=home></div><section><div class=home></div></section><x-shadow></x-shadow><iframe title=F></iframe>';
  const shadow = root.querySelector('x-shadow').attachShadow({ mode: 'closed' });
  shadow.innerHTML = '<div></div>';
  const homes = () => {
    const inner = root.querySelector('iframe').contentDocument.body;
    return [...root.querySelectorAll('.home'), shadow.firstChild, inner];
  };
  let seed = 1;
  const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648, Math.floor(seed / 65536) % n);
  const pick = list => list[random(list.length)];
  const make = home => {
    const made = home.ownerDocument.createElement(pick(['button', 'a', 'div', 'input']));
    made.textContent = pick(['A', 'B', 'C']);
    made.setAttribute('href', '#'); made.style.cursor = 'pointer'; made.setAttribute('aria-label', made.textContent);
    return made;
  };
  const step = () => {
    const home = pick(homes()), other = pick(homes()), size = home.childElementCount;
    const child = size && home.children[random(size)];
    switch (size < 2 ? 0 : size > 8 ? 1 : random(10)) {
      case 0: case 2: home.insertBefore(make(home), home.children[random(size + 1)] || null); break;
      case 1: child.remove(); break;
      case 3: other.insertBefore(child, other.firstElementChild); break;
      case 4: child.replaceWith(child.cloneNode(true)); break;
      case 5: home.innerHTML = home.innerHTML; break;
      case 6: home.replaceChildren(...[...home.children].reverse()); break;
      case 7: child.setAttribute('aria-label', pick(['A', 'B', 'C'])); break;
      case 8: home.append(...[...other.children].slice(0, 2)); break;
      case 9: {
        if (random(20)) break;
        const old = root.querySelector('iframe'), made = document.createElement('iframe');
        made.title = 'F'; old.replaceWith(made); break;
      }
    }
  };
  window.change = steps => { for (let at = 0; at < steps; at++) step() };
  window.who = (...all) => all.map(it => known.get(it) || (known.set(it, crypto.randomUUID()), known.get(it)));
})()";

#[tokio::test]
async fn no_ref_ever_names_another_element() {
    let mut room = Room::open("/three").await;
    room.stage.evaluate(SETUP).await;
    let role = Request { interactive: Some(true), max_chars: Some(0), ..Request::default() };
    let ai = Request { max_chars: Some(0), ..Request::default() };
    let list = Request { format: Format::Aria, limit: Some(2_000), ..Request::default() };
    let requests = [role.clone(), ai, role, list];
    let mut who_is: HashMap<String, String> = HashMap::new();
    let mut called: HashMap<(String, FrameId, String), String> = HashMap::new();
    for round in 0..ROUNDS {
        room.stage.evaluate(&format!("change({STEPS})")).await;
        let snapshot = room.take(&requests[round % requests.len()]).await;
        let shown: Vec<String> = match &snapshot.body {
            Body::Text(text) => text.refs.iter().map(|it| it.id.to_string()).collect(),
            Body::List(list) => {
                list.nodes.iter().filter_map(|it| it.r#ref.map(|id| id.to_string())).collect()
            }
        };
        assert!(shown.len() > 8);
        // All refs that are shown, and those that were before and still mean something.
        let mut texts: Vec<String> = shown.clone();
        // Not all of them every time: there are thousands in the end.
        let still = |it: &&String| !shown.contains(it) && room.memory.resolve(it).is_ok();
        texts.extend(who_is.keys().filter(still).take(MOST_OLD).cloned());
        let meant = texts.iter().filter_map(|text| {
            let node = room.memory.resolve(text).ok()?.backend_node_id?;
            Some((text.clone(), node))
        });
        let meant: Vec<(String, i64)> = meant.collect();
        for text in &shown {
            assert!(room.memory.resolve(text).is_ok(), "{text} was just given");
        }
        for (text, who) in identities(&room, meant).await {
            let before = who_is.entry(text.clone()).or_insert_with(|| who.clone());
            assert_eq!(*before, who, "{text} names another element in round {round}");
            // And an element has one ref for good, in each of the two series and each frame.
            let series = text.trim_end_matches(|digit: char| digit.is_ascii_digit()).to_owned();
            let frame = room.memory.resolve(&text).unwrap().frame.clone();
            let its = called.entry((series, frame, who)).or_insert_with(|| text.clone());
            assert_eq!(*its, text, "another ref for the same element in round {round}");
        }
    }
    assert!(who_is.len() > 1_000, "{}", who_is.len());
    room.stage.stop().await;
}

/// Who the nodes are, as far as they are still there.
async fn identities(room: &Room, nodes: Vec<(String, i64)>) -> Vec<(String, String)> {
    let mut asked = Vec::new();
    for (text, node) in nodes {
        let params = json!({ "backendNodeId": node, "objectGroup": "test" });
        asked.push((text, room.stage.session.send("DOM.resolveNode", params).await.unwrap()));
    }
    let (mut texts, mut arguments) = (Vec::new(), Vec::new());
    for (text, reply) in asked {
        let Ok(reply) = reply.await else { continue };
        let reply: serde_json::Value = serde_json::from_str(reply.get()).unwrap();
        // An element in the frame is an object of another world of the same process.
        texts.push(text);
        arguments.push(json!({ "objectId": reply["object"]["objectId"] }));
    }
    let mut found = Vec::new();
    let mut replies = Vec::new();
    for argument in &arguments {
        let params = json!({
            "objectId": argument["objectId"], "returnByValue": true,
            "functionDeclaration": "function(){return (window.parent.who||window.who)(this)[0]}",
        });
        replies.push(room.stage.session.send("Runtime.callFunctionOn", params).await.unwrap());
    }
    for (text, reply) in texts.into_iter().zip(replies) {
        let Ok(reply) = reply.await else { continue };
        let reply: serde_json::Value = serde_json::from_str(reply.get()).unwrap();
        // A frame that is gone has no parent to ask.
        if let Some(who) = reply["result"]["value"].as_str() {
            found.push((text, who.to_owned()));
        }
    }
    room.stage.session.cast("Runtime.releaseObjectGroup", json!({ "objectGroup": "test" }));
    found
}
