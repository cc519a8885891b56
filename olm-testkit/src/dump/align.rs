//! Which elements of two lists belong together.

use serde_json::Value;

/// Elements of the same place; `None` on the side that lacks it.
pub(super) type Pair<'a> = (String, Option<&'a Value>, Option<&'a Value>);

/// Two lists side by side.
#[derive(Debug)]
pub(super) struct Aligned<'a> {
    /// Every element of both lists, with what names it.
    pub pairs: Vec<Pair<'a>>,
    /// The names in both orders, when only the order differs.
    pub order: Option<(Vec<String>, Vec<String>)>,
}

/// Aligns by what names an element; elements without a name by their place.
pub(super) fn align<'a>(left: &'a [Value], right: &'a [Value]) -> Aligned<'a> {
    let (names, others) = (names(left), names(right));
    if names == others {
        let pairs = names.into_iter().zip(left.iter().zip(right));
        let pairs = pairs.map(|(name, (left, right))| (name, Some(left), Some(right))).collect();
        return Aligned { pairs, order: None };
    }
    let unordered = sorted(&names) == sorted(&others);
    let order = unordered.then(|| (names.clone(), others.clone()));
    let pairs = merge(names.into_iter().zip(left), others.into_iter().zip(right), unordered);
    Aligned { pairs, order }
}

/// Pairs each left element with the next right one of its name, or with any when only the order
/// differs; what is passed over stands alone.
fn merge<'a>(
    left: impl Iterator<Item = (String, &'a Value)>,
    right: impl Iterator<Item = (String, &'a Value)>,
    unordered: bool,
) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    let mut rest: Vec<_> = right.collect();
    let mut alone: Vec<(String, &Value)> = Vec::new();
    for (name, value) in left {
        let Some(place) = rest.iter().position(|(other, _)| *other == name) else {
            alone.push((name, value));
            continue;
        };
        let passed = if unordered { Vec::new() } else { rest.drain(..place).collect() };
        close_gap(&mut pairs, std::mem::take(&mut alone), passed);
        let found = rest.remove(if unordered { place } else { 0 });
        pairs.push((name, Some(value), Some(found.1)));
    }
    close_gap(&mut pairs, alone, rest);
    pairs
}

/// Elements between two that belong together: as many on each side, without names, are the same
/// ones with another content.
fn close_gap<'a>(
    pairs: &mut Vec<Pair<'a>>,
    left: Vec<(String, &'a Value)>,
    right: Vec<(String, &'a Value)>,
) {
    let nameless = left.iter().chain(&right).all(|(_, value)| name(value).is_none());
    if nameless && left.len() == right.len() {
        let first = pairs.len();
        let both = left.into_iter().zip(right).zip(first..);
        pairs.extend(both.map(|((left, right), at)| (at.to_string(), Some(left.1), Some(right.1))));
        return;
    }
    pairs.extend(left.into_iter().map(|(name, value)| (name, Some(value), None)));
    pairs.extend(right.into_iter().map(|(name, value)| (name, None, Some(value))));
}

/// What names each element: its own fields, or else its whole content.
fn names(list: &[Value]) -> Vec<String> {
    list.iter().map(|value| name(value).unwrap_or_else(|| value.to_string())).collect()
}

/// What names an element, in this order: steps their resource, conditions their type or phase and
/// reason, references and requirements their kind and name, rights their text.
const NAMES: [&[&str]; 6] = [
    &["/resource/kind", "/resource/name"],
    &["/phase", "/reason"],
    &["/type"],
    &["/kind", "/name"],
    &["/kind", "/message"],
    &["/key"],
];

fn name(value: &Value) -> Option<String> {
    let part = |pointer: &&str| value.pointer(pointer).and_then(Value::as_str);
    let join = |pointers: &&[&str]| {
        let parts: Option<Vec<_>> = pointers.iter().map(part).collect();
        Some(parts?.join(" "))
    };
    NAMES.iter().find_map(join)
}

fn sorted(names: &[String]) -> Vec<&String> {
    let mut sorted: Vec<_> = names.iter().collect();
    sorted.sort();
    sorted
}
