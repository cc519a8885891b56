//! Which fields of objects are left out, as a tree of their names.

use std::sync::Arc;

/// Stands for every element of a list.
const EACH: &str = "*";

/// What no reader needs, of any object.
const MANAGED: [&str; 2] = ["metadata", "managedFields"];

/// Where in an answer objects are: it is one, is a list of them, or an event about one.
const OBJECTS: [&[&str]; 3] = [&[], &["items", EACH], &["object"]];

/// Fields of objects that are left out. Clones share them.
#[derive(Clone, Debug)]
pub struct Fields(Arc<Vec<Node>>);

/// Names below one place.
#[derive(Clone, Debug, Default)]
struct Node {
    is_left_out: bool,
    /// Few, so that looking at all of them is quickest.
    below: Vec<(&'static str, FieldPosition)>,
}

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldPosition(usize);

impl Default for Fields {
    /// What every answer lacks: `metadata.managedFields`.
    fn default() -> Self {
        let mut fields = Self(Arc::new(vec![Node::default()]));
        fields.add(&MANAGED);
        fields
    }
}

impl Fields {
    /// The default, and the fields with these paths below an object. A part of a path is the name of a
    /// field, or `*` for every element of a list; elements themselves stay, so the last part is a name.
    pub fn of(paths: &[&[&'static str]]) -> Self {
        let mut fields = Self::default();
        paths.iter().for_each(|path| fields.add(path));
        fields
    }

    fn add(&mut self, path: &[&'static str]) {
        let nodes = Arc::make_mut(&mut self.0);
        for object in OBJECTS {
            let end =
                object.iter().chain(path).fold(FieldPosition(0), |at, name| step(nodes, at, name));
            if let Some(node) = nodes.get_mut(end.0) {
                node.is_left_out = true;
            }
        }
    }

    /// Where an answer begins.
    pub(super) fn root(&self) -> FieldPosition {
        FieldPosition(0)
    }

    /// Whether the field in this place is left out.
    pub(super) fn is_left_out(&self, place: FieldPosition) -> bool {
        self.0.get(place.0).is_some_and(|node| node.is_left_out)
    }

    /// The field of this name, where something at or below it is left out.
    pub(super) fn named(&self, place: FieldPosition, name: &[u8]) -> Option<FieldPosition> {
        let below = &self.0.get(place.0)?.below;
        below.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, place)| *place)
    }

    /// Every element of the list in this place, likewise.
    pub(super) fn each(&self, place: FieldPosition) -> Option<FieldPosition> {
        self.named(place, EACH.as_bytes())
    }
}

/// The place of this name below another, which is made where it is new.
fn step(nodes: &mut Vec<Node>, at: FieldPosition, name: &'static str) -> FieldPosition {
    let next = FieldPosition(nodes.len());
    let Some(node) = nodes.get_mut(at.0) else { return at };
    match node.below.iter().find(|(known, _)| *known == name) {
        Some((_, place)) => *place,
        None => {
            node.below.push((name, next));
            nodes.push(Node::default());
            next
        }
    }
}
