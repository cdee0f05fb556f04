use std::collections::HashMap;
use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn documents(list: &[(&str, &str)]) -> Documents {
    let mut documents = Documents::new(list[0].0.into(), list[0].1.into());
    for (frame, document) in &list[1..] {
        documents.show((*frame).into(), (*document).into());
    }
    documents
}

fn see(table: &mut RefTable, frame: &str, document: &str, node: i64) -> String {
    let sighting = Sighting {
        frame: &frame.into(),
        document: &document.into(),
        identity: Identity::Node(node),
        role: "button",
        name: "Save",
        place: Place::ALONE,
    };
    table.name(Series::Element, &sighting).to_string()
}

fn why(table: &RefTable, text: &str, now: &Documents) -> StaleReason {
    table.resolve(text, now).unwrap_err().reason
}

#[test]
fn an_element_keeps_its_ref_and_a_new_one_gets_a_new_number() {
    let mut table = RefTable::default();
    let now = documents(&[("M", "m1")]);
    table.begin(&now);
    assert_eq!([see(&mut table, "M", "m1", 10), see(&mut table, "M", "m1", 11)], ["e1", "e2"]);
    table.begin(&now);
    let again = [9, 10, 11].map(|node| see(&mut table, "M", "m1", node));
    assert_eq!(again, ["e3", "e1", "e2"]);
    for text in ["e1", "@e1", "ref=e1"] {
        assert_eq!(table.resolve(text, &now).unwrap().backend_node_id, Some(10));
    }
}

#[test]
fn every_reason_is_told_apart() {
    let mut table = RefTable::default();
    let before = documents(&[("M", "m1"), ("A", "a1")]);
    table.begin(&before);
    assert_eq!([see(&mut table, "M", "m1", 1), see(&mut table, "A", "a1", 2)], ["e1", "f1e1"]);
    for text in ["e2", "f1e2", "f2e1", "ax1", "7", "", "button"] {
        assert_eq!(why(&table, text, &before), StaleReason::Unknown, "{text}");
    }
    assert_eq!(why(&table, "f1e1", &documents(&[("M", "m1"), ("A", "a2")])), StaleReason::FrameChanged);
    assert_eq!(why(&table, "f1e1", &documents(&[("M", "m1")])), StaleReason::FrameChanged);
    let after = documents(&[("M", "m2"), ("A", "a1")]);
    assert_eq!(why(&table, "e1", &after), StaleReason::DocumentChanged);
    assert_eq!(why(&table, "f1e1", &after), StaleReason::DocumentChanged);
    table.detached(RefId::Element { frame: 0, number: 1 });
    assert_eq!(why(&table, "e1", &before), StaleReason::NodeDetached);
}

#[test]
fn forgotten_documents_leave_no_refs_and_still_their_reason() {
    let mut table = RefTable::default();
    table.begin(&documents(&[("M", "m1"), ("A", "a1")]));
    see(&mut table, "M", "m1", 1);
    see(&mut table, "A", "a1", 2);
    let now = documents(&[("M", "m2"), ("B", "b1")]);
    table.begin(&now);
    assert!(table.is_empty());
    assert_eq!([see(&mut table, "M", "m2", 1), see(&mut table, "B", "b1", 2)], ["e2", "f2e1"]);
    assert_eq!(why(&table, "e1", &now), StaleReason::DocumentChanged);
    assert_eq!(why(&table, "f1e1", &now), StaleReason::FrameChanged);
    assert_eq!(why(&table, "e3", &now), StaleReason::Unknown);
    let reloaded = documents(&[("M", "m2"), ("B", "b2")]);
    table.begin(&reloaded);
    assert_eq!(see(&mut table, "B", "b2", 2), "f2e2", "the frame stays, the numbers go on");
    assert_eq!(why(&table, "f2e1", &reloaded), StaleReason::FrameChanged);
}

#[test]
fn a_frame_that_did_not_answer_keeps_its_refs() {
    let mut table = RefTable::default();
    table.begin(&documents(&[("M", "m1"), ("A", "a1")]));
    assert_eq!(see(&mut table, "A", "a1", 2), "f1e1");
    let mut now = documents(&[("M", "m1")]);
    now.unheard("A".into());
    table.begin(&now);
    assert!(table.resolve("f1e1", &now).is_ok());
    let heard = documents(&[("M", "m1"), ("A", "a1")]);
    table.begin(&heard);
    assert_eq!([see(&mut table, "A", "a1", 2), see(&mut table, "A", "a1", 3)], ["f1e1", "f1e2"]);
}

#[test]
fn a_node_without_identity_of_its_own_keeps_its_ref_while_it_looks_the_same() {
    let mut table = RefTable::default();
    table.begin(&documents(&[("M", "m1")]));
    let mut named = |name: &str| {
        let sighting = Sighting {
            frame: &"M".into(),
            document: &"m1".into(),
            identity: Identity::Under { node: 4, index: 0 },
            role: "inlinetextbox",
            name,
            place: Place::ALONE,
        };
        table.name(Series::Aria, &sighting).to_string()
    };
    assert_eq!([named("one"), named("one"), named("two")], ["ax1", "ax1", "ax2"]);
}

#[test]
fn memory_is_bounded_and_the_last_snapshot_stays_whole() {
    let mut table = RefTable::new(10);
    let now = documents(&[("M", "m1")]);
    for snapshot in 0..50 {
        table.begin(&now);
        for node in 0..8 {
            see(&mut table, "M", "m1", snapshot * 8 + node);
        }
    }
    assert!(table.len() <= 24, "{}", table.len());
    assert!(table.keys.len() <= 24);
    for number in 393..=400 {
        assert!(table.resolve(&format!("e{number}"), &now).is_ok());
    }
    assert_eq!(why(&table, "e1", &now), StaleReason::Unknown);
}

/// What may happen to a tab.
#[derive(Clone, Debug)]
enum Step {
    Snapshot(Vec<(u8, i64)>),
    Reload(u8),
    Remove(u8),
    Detach(u32, u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec((0u8..3, 0i64..6), 0..8).prop_map(Step::Snapshot),
        1 => (0u8..3).prop_map(Step::Reload),
        1 => (1u8..3).prop_map(Step::Remove),
        1 => (0u32..3, 1u32..9).prop_map(|(frame, number)| Step::Detach(frame, number)),
    ]
}

proptest! {
    #[test]
    fn a_ref_never_names_another_element(steps in prop::collection::vec(step(), 1..60), most in 1usize..40) {
        let mut table = RefTable::new(most);
        let mut now = documents(&[("0", "d0")]);
        let mut loads = 0;
        let mut meaning: HashMap<String, (String, String, i64)> = HashMap::new();
        for step in steps {
            match step {
                Step::Snapshot(nodes) => {
                    table.begin(&now);
                    let mut given = HashSet::new();
                    for (frame, node) in nodes {
                        let frame = frame.to_string();
                        let Some(document) = now.of(&frame).cloned() else { continue };
                        let text = see(&mut table, &frame, &document, node);
                        let means = (frame, document.to_string(), node);
                        prop_assert_eq!(meaning.entry(text.clone()).or_insert_with(|| means.clone()), &means);
                        given.insert(text);
                    }
                    for text in given {
                        prop_assert!(table.resolve(&text, &now).is_ok(), "{} was just given", text);
                    }
                }
                Step::Reload(frame) => {
                    loads += 1;
                    now.show(frame.to_string().into(), format!("d{loads}").into());
                }
                Step::Remove(frame) => now.remove(&frame.to_string()),
                Step::Detach(frame, number) => table.detached(RefId::Element { frame, number }),
            }
            for (text, (frame, document, node)) in &meaning {
                if let Ok(found) = table.resolve(text, &now) {
                    prop_assert_eq!(&*found.frame, &**frame);
                    prop_assert_eq!(&*found.document, &**document);
                    prop_assert_eq!(found.backend_node_id, Some(*node));
                    prop_assert_eq!(now.of(frame).map(|it| &**it), Some(&**document));
                }
            }
        }
    }
}
