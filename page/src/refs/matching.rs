//! Finding an element again by role, name and nth, where it has no DOM node to go by.
//!
//! Only a match that is beyond doubt counts: if there are more or fewer of the same role and name
//! than there were, it stays undefined which of them is meant.

use std::collections::HashMap;

use serde::Serialize;

/// The place of a node among those of the same role and name in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// From zero.
    pub nth: u32,
    /// How many there are.
    pub of: u32,
}

impl Place {
    /// The only one.
    pub const ALONE: Self = Self { nth: 0, of: 1 };

    /// `nth` where it says something: there are several.
    pub fn told(self) -> Option<u32> {
        (self.of > 1).then_some(self.nth)
    }
}

/// Counts nodes of the same role and name, in the order in which Chromium lists them.
#[derive(Debug, Default)]
pub struct Duplicates {
    group_of: Vec<usize>,
    nth: Vec<u32>,
    sizes: Vec<u32>,
}

impl Duplicates {
    /// Counts these roles (in lower case) and names.
    pub fn count<'a>(nodes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut groups: HashMap<(&str, &str), usize> = HashMap::new();
        let mut counted = Self::default();
        for key in nodes {
            let group = *groups.entry(key).or_insert_with(|| {
                counted.sizes.push(0);
                counted.sizes.len() - 1
            });
            counted.group_of.push(group);
            counted.nth.push(counted.sizes[group]);
            counted.sizes[group] += 1;
        }
        counted
    }

    /// The place of the node that was counted as number `index`.
    pub fn place(&self, index: usize) -> Place {
        Place { nth: self.nth[index], of: self.sizes[self.group_of[index]] }
    }
}

/// What a search by role, name and place gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match<T> {
    /// It can only be this one.
    One(T),
    /// There is none of this role and name.
    Nothing,
    /// There are some, but not as many as there were: which one is meant is undefined.
    Ambiguous {
        /// How many there are now.
        count: u32,
    },
}

/// Finds the node of this role (in lower case), name and place among `nodes`: the same population
/// in the same order as was counted by [`Duplicates`].
pub fn find<'a, T>(
    nodes: impl IntoIterator<Item = (&'a str, &'a str, T)>,
    role: &str,
    name: &str,
    place: Place,
) -> Match<T> {
    let mut count = 0;
    let mut found = None;
    for (_, _, node) in
        nodes.into_iter().filter(|(its_role, its_name, _)| *its_role == role && *its_name == name)
    {
        if count == place.nth {
            found = Some(node);
        }
        count += 1;
    }
    match found {
        Some(node) if count == place.of => Match::One(node),
        _ if count == 0 => Match::Nothing,
        _ => Match::Ambiguous { count },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAVE: (&str, &str) = ("button", "Save");

    #[test]
    fn every_member_of_a_group_has_its_place() {
        let counted = Duplicates::count([SAVE, ("link", "Save"), SAVE]);
        assert_eq!(counted.place(0), Place { nth: 0, of: 2 });
        assert_eq!(counted.place(1), Place::ALONE);
        assert_eq!(counted.place(2), Place { nth: 1, of: 2 });
        assert_eq!([counted.place(0).told(), counted.place(1).told()], [Some(0), None]);
    }

    #[test]
    fn one_more_or_less_makes_it_undefined() {
        let two = [("button", "Save", 1), ("button", "Save", 2)];
        assert_eq!(find(two, "button", "Save", Place { nth: 1, of: 2 }), Match::One(2));
        assert_eq!(find(two, "button", "Save", Place::ALONE), Match::Ambiguous { count: 2 });
        assert_eq!(find(two, "button", "Save", Place { nth: 1, of: 3 }), Match::Ambiguous { count: 2 });
        assert_eq!(find(two, "button", "save", Place::ALONE), Match::Nothing);
        assert_eq!(find(two, "button", "Save", Place { nth: 7, of: 2 }), Match::Ambiguous { count: 2 });
    }

    fn nodes() -> impl Strategy<Value = Vec<(String, String)>> {
        prop::collection::vec(("[ab]", "[xy]?"), 0..24)
    }

    proptest! {
        #[test]
        fn in_an_unchanged_tree_every_node_finds_itself(nodes in nodes()) {
            let counted = Duplicates::count(nodes.iter().map(|(role, name)| (&**role, &**name)));
            for (index, (role, name)) in nodes.iter().enumerate() {
                let all = nodes.iter().enumerate().map(|(at, (role, name))| (&**role, &**name, at));
                prop_assert_eq!(find(all, role, name, counted.place(index)), Match::One(index));
            }
        }

        #[test]
        fn a_match_is_always_of_the_role_and_name_and_never_after_a_change_of_number(
            nodes in nodes(), role in "[ab]", name in "[xy]?", nth in 0u32..4, of in 1u32..4,
        ) {
            let all = nodes.iter().map(|node| (&*node.0, &*node.1, node));
            let same = nodes.iter().filter(|node| node.0 == role && node.1 == name).count();
            match find(all, &role, &name, Place { nth, of }) {
                Match::One(node) => {
                    prop_assert_eq!((&node.0, &node.1), (&role, &name));
                    prop_assert_eq!(same, of as usize);
                }
                Match::Nothing => prop_assert_eq!(same, 0),
                Match::Ambiguous { count } => prop_assert!(count as usize == same && same > 0),
            }
        }
    }
}
