//! Differences that are known, and there on purpose.
//!
//! [`list`] holds them, one line each. What is accepted is still counted in the output.

mod list;

use std::fmt;

use olm_testkit::dump::Difference;
use serde_json::Value;

use super::compare::{DifferenceKind, Finding};
use super::owners;
use list::ACCEPTED;

/// Why a difference is there on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IntendedDifference(&'static str);

impl fmt::Display for IntendedDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A line of the list. In all texts `*` stands for any text, once.
#[derive(Clone, Copy)]
struct Accepted {
    kind: &'static str,
    /// The names of the objects.
    name: &'static str,
    /// The start of the path; empty for the object as a whole, whatever differs in it.
    path: &'static [&'static str],
    /// What the two sides hold there.
    sides: Sides,
    /// Scenario and number of the step, with a slash between.
    at: &'static str,
    reason: IntendedDifference,
}

/// What the two sides of a difference hold.
#[derive(Clone, Copy)]
enum Sides {
    Any,
    /// v0 has nothing there.
    OnlyOurs,
    /// We have nothing there.
    OnlyV0,
    /// JSON of v0's value and of ours, as patterns; `-` where there is nothing.
    Are(&'static str, &'static str),
}

/// A line about whole objects.
const fn object(kind: &'static str, name: &'static str, reason: IntendedDifference) -> Accepted {
    Accepted { kind, name, path: &[], sides: Sides::Any, at: "*", reason }
}

/// A line about a field of all objects of a kind.
const fn field(
    kind: &'static str,
    path: &'static [&'static str],
    reason: IntendedDifference,
) -> Accepted {
    Accepted { path, ..object(kind, "*", reason) }
}

impl Accepted {
    const fn where_sides(self, sides: Sides) -> Self {
        Self { sides, ..self }
    }

    const fn at(self, at: &'static str) -> Self {
        Self { at, ..self }
    }

    fn covers(&self, at: &str, finding: &Finding) -> bool {
        matches(self.at, at)
            && matches(self.kind, &finding.key.kind)
            && matches(self.name, &finding.key.name)
            && self.covers_place(&finding.what)
    }

    fn covers_place(&self, what: &DifferenceKind) -> bool {
        match what {
            DifferenceKind::Missing => {
                self.path.is_empty() && self.sides.fit(Some(&Value::Null), None)
            }
            DifferenceKind::Extra => {
                self.path.is_empty() && self.sides.fit(None, Some(&Value::Null))
            }
            DifferenceKind::Left => self.path.is_empty() && matches!(self.sides, Sides::Any),
            DifferenceKind::Field(difference) => {
                let path = &difference.path.0;
                let below =
                    self.path.iter().zip(path).all(|(pattern, part)| matches(pattern, part));
                let (v0, ours) = (difference.expected.as_ref(), difference.found.as_ref());
                below && self.path.len() <= path.len() && self.sides.fit(v0, ours)
            }
        }
    }
}

impl Sides {
    fn fit(self, v0: Option<&Value>, ours: Option<&Value>) -> bool {
        let shown = |value: Option<&Value>| value.map_or_else(|| "-".to_owned(), Value::to_string);
        match self {
            Self::Any => true,
            Self::OnlyOurs => v0.is_none(),
            Self::OnlyV0 => ours.is_none(),
            Self::Are(left, right) => matches(left, &shown(v0)) && matches(right, &shown(ours)),
        }
    }
}

/// Why a finding of a step is accepted, if it is. A reference that does not name the owner never is.
pub(super) fn reason(at: &str, finding: &Finding) -> Option<IntendedDifference> {
    if let DifferenceKind::Field(difference) = &finding.what
        && is_about(difference, owners::WRONG)
    {
        return None;
    }
    ACCEPTED.iter().find(|line| line.covers(at, finding)).map(|line| line.reason)
}

/// Whether it is a field of this name, or an object of ours that has it.
fn is_about(difference: &Difference, field: &str) -> bool {
    let is_field = difference.path.0.last().is_some_and(|last| last == field);
    is_field || difference.found.as_ref().is_some_and(|ours| ours.get(field).is_some())
}

/// Whether a text fits a pattern with at most one `*`.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, end)) => {
            text.len() >= start.len() + end.len() && text.starts_with(start) && text.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use olm_testkit::dump::{Key, diff_object};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("a", "a", true)]
    #[case("a", "b", false)]
    #[case("*", "", true)]
    #[case("a*", "abc", true)]
    #[case("*c", "abc", true)]
    #[case("a*c", "ac", true)]
    #[case("aa*a", "aa", false)]
    fn patterns(#[case] pattern: &str, #[case] text: &str, #[case] fits: bool) {
        assert_eq!(matches(pattern, text), fits);
    }

    #[test]
    fn one_label_of_several() {
        let v0 =
            json!({"kind": "Service", "metadata": {"name": "s", "labels": {"a/b": "", "b": ""}}});
        let ours = json!({"kind": "Service", "metadata": {"name": "s"}});
        let line = field("*", &["metadata", "labels", "a/*"], IntendedDifference(""));
        let found =
            diff_object(&Key::of(&v0), Some(&v0), Some(&ours)).into_iter().map(|difference| {
                let what = DifferenceKind::Field(difference);
                line.covers("a/1", &Finding { key: Key::of(&v0), what })
            });
        assert_eq!(found.collect::<Vec<_>>(), [true, false]);
    }

    #[rstest]
    #[case::ours_alone(Sides::OnlyOurs, "a/1", None, true)]
    #[case::both(Sides::OnlyOurs, "a/1", Some("old"), false)]
    #[case::other_step(Sides::OnlyOurs, "a/2", None, false)]
    #[case::v0_alone(Sides::OnlyV0, "a/1", Some("old"), false)]
    #[case::exactly(Sides::Are("\"o*\"", "\"new\""), "a/1", Some("old"), true)]
    #[case::nearly(Sides::Are("\"o*\"", "\"newer\""), "a/1", Some("old"), false)]
    #[case::nothing(Sides::Are("-", "\"new\""), "a/1", None, true)]
    fn sides_of_a_step(
        #[case] sides: Sides,
        #[case] at: &str,
        #[case] v0: Option<&str>,
        #[case] covered: bool,
    ) {
        let line = field("A", &["b"], IntendedDifference("")).at("a/1");
        let line = line.where_sides(sides);
        let v0 = v0.map_or(json!({"kind": "A"}), |text| json!({"kind": "A", "b": text}));
        let ours = json!({"kind": "A", "b": "new"});
        let differences = diff_object(&Key::of(&v0), Some(&v0), Some(&ours));
        let difference = differences.into_iter().next().unwrap();
        let finding = Finding { key: Key::of(&v0), what: DifferenceKind::Field(difference) };
        assert_eq!(line.covers(at, &finding), covered);
    }
}
