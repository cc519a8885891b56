//! One step of a scenario: the objects that it touched, in v0 and here.

use std::collections::{BTreeMap, BTreeSet};

use olm_testkit::dump::{Difference, Dump, Key, diff_object};
use serde_json::Value;

use super::accepted;
use super::recording::Step;

/// Every object that v0 has touched so far; `None` when it was removed.
pub(super) type Known = BTreeMap<Key, Option<Value>>;

/// Something that is not as in v0.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub key: Key,
    pub what: DifferenceKind,
}

/// How an object differs.
#[derive(Clone, Debug)]
pub(super) enum DifferenceKind {
    /// Only v0 has it.
    Missing,
    /// Only we have it.
    Extra,
    /// v0 removed it and we did not.
    Left,
    /// One of its fields.
    Field(Difference),
}

impl DifferenceKind {
    /// Whether it is the same difference, perhaps in another element of a list.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Field(one), Self::Field(other)) => {
                one.path.is_like(&other.path)
                    && one.expected == other.expected
                    && one.found == other.found
            }
            _ => false,
        }
    }
}

/// The findings of a step.
#[derive(Debug, Default)]
pub(super) struct StepFindings {
    /// What was not accepted, by kind and name.
    pub failures: Vec<Finding>,
    /// What a person has accepted: how often, by reason.
    pub accepted: BTreeMap<accepted::IntendedDifference, usize>,
}

/// A step as it was here.
#[derive(Debug)]
pub(super) struct ObservedStep<'a> {
    pub before: &'a Dump,
    pub after: &'a Dump,
}

/// Compares everything that v0 or we touched in a step.
pub(super) fn judge(
    step: &Step,
    known: &Known,
    seen: &ObservedStep<'_>,
    kind: Option<&str>,
) -> StepFindings {
    let changed = |key: &&Key| seen.before.get(*key) != seen.after.get(*key);
    let ours = seen.before.keys().chain(seen.after.keys()).filter(changed);
    let keys: BTreeSet<_> = step.touched.keys().chain(ours).collect();
    let mut judged = StepFindings::default();
    for key in keys.into_iter().filter(|key| kind.is_none_or(|kind| key.kind == kind)) {
        let v0 = expected(key, step, known, seen.before);
        for finding in findings(key, v0, seen) {
            match accepted::reason(&step.at, &finding) {
                Some(reason) => *judged.accepted.entry(reason).or_default() += 1,
                None => judged.failures.push(finding),
            }
        }
    }
    judged
}

/// The object in v0 after the step. What v0 never touched is as it was here before.
fn expected<'a>(
    key: &Key,
    step: &'a Step,
    known: &'a Known,
    before: &'a Dump,
) -> Option<&'a Value> {
    match step.touched.get(key).or_else(|| known.get(key)) {
        Some(object) => object.as_ref(),
        None => before.get(key),
    }
}

fn findings(key: &Key, v0: Option<&Value>, seen: &ObservedStep<'_>) -> Vec<Finding> {
    let ours = seen.after.get(key);
    let finding = |what| Finding { key: key.clone(), what };
    match (v0, ours) {
        (None, None) => Vec::new(),
        (Some(_), None) => vec![finding(DifferenceKind::Missing)],
        (None, Some(_)) if seen.before.contains_key(key) => vec![finding(DifferenceKind::Left)],
        (None, Some(_)) => vec![finding(DifferenceKind::Extra)],
        (Some(v0), Some(ours)) => {
            let differences = diff_object(key, Some(v0), Some(ours)).into_iter();
            differences.map(|difference| finding(DifferenceKind::Field(difference))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str, data: i32) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
    }

    fn state(objects: &[(&str, i32)]) -> Dump {
        let objects = objects.iter().map(|(name, data)| object(name, *data));
        objects.map(|object| (Key::of(&object), object)).collect()
    }

    fn touched(objects: &[(&str, Option<i32>)]) -> Known {
        let objects = objects
            .iter()
            .map(|(name, data)| (Key::of(&object(name, 0)), data.map(|data| object(name, data))));
        objects.collect()
    }

    fn lines(step: &Known, known: &Known, before: &Dump, after: &Dump) -> Vec<String> {
        let step = Step { at: String::new(), after: String::new(), touched: step.clone() };
        let judged = judge(&step, known, &ObservedStep { before, after }, None);
        let what = |finding: &Finding| match &finding.what {
            DifferenceKind::Missing => "missing".to_owned(),
            DifferenceKind::Extra => "extra".to_owned(),
            DifferenceKind::Left => "left".to_owned(),
            DifferenceKind::Field(field) => field.path.to_string(),
        };
        judged.failures.iter().map(|found| format!("{} {}", found.key.name, what(found))).collect()
    }

    #[test]
    fn objects_are_the_same_missing_extra_left_or_different() {
        let step = touched(&[
            ("same", Some(1)),
            ("missing", Some(1)),
            ("differs", Some(1)),
            ("left", None),
            ("gone", None),
        ]);
        let before = state(&[("left", 1), ("gone", 1), ("untouched", 1), ("touched", 1)]);
        let after = state(&[
            ("same", 1),
            ("extra", 1),
            ("differs", 2),
            ("left", 1),
            ("untouched", 1),
            ("touched", 2),
        ]);
        let found = lines(&step, &Known::new(), &before, &after);
        let expected =
            ["differs data", "extra extra", "left left", "missing missing", "touched data"];
        assert_eq!(found, expected);
    }

    #[test]
    fn v0_is_remembered_from_step_to_step() {
        let known = touched(&[("a", Some(2)), ("b", Some(2))]);
        let found =
            lines(&Known::new(), &known, &state(&[("a", 1), ("b", 1)]), &state(&[("a", 2)]));
        assert_eq!(found, ["b missing"]);
    }
}
