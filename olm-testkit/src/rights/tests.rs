//! What a table lacks and what it has too much of, and rules that both tables keep.

use rstest::rstest;

use super::compare::examine;
use super::*;
use crate::audit::{Usage, Use};

const TABLE: &[Right] = &[
    Right::new("", &["pods"], &["get", "list"], "r").named(&["a"]),
    Right::new("g", &["*"], &["list"], "r"),
    Right::new("g", &["leases"], &["get"], "r").at_home(),
    Right::new("g", &["rare"], &["get"], "r").unseen("rare"),
];

fn asked(verb: &str, group: &str, resource: &str, namespace: &str, name: &str) -> Use {
    let [verb, group, resource, namespace, name] =
        [verb, group, resource, namespace, name].map(str::to_owned);
    Use { verb, group, resource, namespace, name }
}

/// What is missing, by the rest of the row that would allow it.
#[rstest]
#[case::allowed(asked("get", "", "pods", "n", "a"), false)]
#[case::another_name(asked("get", "", "pods", "n", "b"), true)]
#[case::a_collection_has_no_name(asked("list", "", "pods", "n", ""), true)]
#[case::another_verb(asked("watch", "g", "x", "", ""), true)]
#[case::any_resource(asked("list", "g", "x/status", "n", ""), false)]
#[case::another_group(asked("list", "h", "x", "n", ""), true)]
#[case::at_home(asked("get", "g", "leases", OLM_NAMESPACE, "l"), false)]
#[case::elsewhere(asked("get", "g", "leases", "n", "l"), true)]
fn what_is_missing(#[case] used: Use, #[case] missing: bool) {
    let usage = Usage { allowed: [used].into(), ..Usage::default() };
    assert_eq!(examine(TABLE, &usage).is_short(), missing);
}

#[test]
fn what_was_refused_is_missing_even_when_a_row_has_it() {
    let usage = Usage { refused: [asked("get", "", "pods", "n", "a")].into(), ..Usage::default() };
    assert_eq!(examine(TABLE, &usage).missing, ["get pods n/a (refused)".to_owned()].into());
}

#[test]
fn what_was_refused_once_and_allowed_later_is_there() {
    let one = asked("get", "", "pods", "n", "a");
    let (allowed, refused) = ([one.clone()].into(), [one].into());
    assert!(!examine(TABLE, &Usage { allowed, refused }).is_short());
}

#[test]
fn what_was_not_used_needs_a_reason() {
    let allowed = [asked("get", "", "pods", "n", "a")].into();
    let findings = examine(TABLE, &Usage { allowed, ..Usage::default() });
    let unused = ["get leases.g", "list *.g", "list pods"].map(str::to_owned).into();
    assert_eq!(findings.unused, unused);
    assert!(!findings.is_short() && !findings.is_empty());
}

#[test]
fn no_account_has_every_permission() {
    for operator in Operator::ALL {
        for right in of(operator) {
            assert!(!right.verbs.contains(&"*"), "{right:?}");
            let everything = right.resources.contains(&"*");
            assert!(
                !everything || right.verbs.len() == 1,
                "each such verb has its reason: {right:?}"
            );
            assert!(!right.reason.is_empty() && right.unseen != Some(""), "{right:?}");
        }
    }
}
