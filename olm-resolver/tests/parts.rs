//! What of an answer is installed separately, and who needs it.

use std::collections::BTreeMap;

use olm_resolver::{Policy, Resolver};
use rstest::rstest;

use crate::support::Problem;

/// Each part as its bundles, with those who need them: `a.v2 for a + x.v2 for a,b`.
fn parts(text: &str, policy: Policy) -> String {
    let outcome = Problem::read(text).outcome(&Resolver::default(), policy);
    let mut parts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for chosen in &outcome.resolution.chosen {
        let needed = format!("{} for {}", chosen.entry.name, chosen.needed_by.join(","));
        parts.entry(chosen.part).or_default().push(needed);
    }
    let mut parts: Vec<String> = parts.into_values().map(|part| part.join(" + ")).collect();
    parts.sort();
    parts.join("; ")
}

/// Two operators that may need a third one.
const THREE: &str = "
    a.v1@1.0.0 a/alpha needs:x:>=1.0.0
    a.v2@2.0.0 a/alpha ->a.v1 needs:x:>=1.0.0
    b.v1@1.0.0 b/alpha
    b.v2@2.0.0 b/alpha ->b.v1
    c.v1@1.0.0 c/alpha needs:x:>=1.0.0
    x.v1@1.0.0 x/alpha
    x.v2@2.0.0 x/alpha ->x.v1
";

/// What an operator needs that is not resolved now, as its Subscription is paused or its catalog away, stays as
/// it is.
#[rstest]
#[case::nothing_in_common(
    "sub a a/alpha\n    sub b b/alpha",
    "a.v2 for a + x.v2 for a; b.v2 for b"
)]
#[case::a_dependency_in_common(
    "sub a a/alpha\n    sub b b/alpha\n    sub c c/alpha",
    "a.v2 for a + c.v1 for c + x.v2 for a,c; b.v2 for b"
)]
#[case::two_subscriptions_to_one_package("sub b b/alpha\n    sub d b/alpha", "b.v2 for b,d")]
#[case::a_dependency_that_stays(
    "csv x.v2@2.0.0 of:x\n    sub a a/alpha\n    sub c c/alpha\n    sub x x/alpha is:x.v2",
    "a.v2 for a; c.v1 for c"
)]
#[case::a_dependency_that_moves_alone(
    "csv x.v1@1.0.0 of:x\n    csv a.v2@2.0.0 of:a needs:x:>=1.0.0
    sub a a/alpha is:a.v2\n    sub b b/alpha\n    sub x x/alpha is:x.v1",
    "b.v2 for b; x.v2 for a,x"
)]
#[case::who_needs_it_is_paused(
    "csv x.v1@1.0.0 of:x\n    csv a.v2@2.0.0 of:a needs:x:>=1.0.0
    sub a a/alpha is:a.v2 paused\n    sub x x/alpha is:x.v1",
    ""
)]
#[case::who_needs_it_has_lost_its_catalog(
    "csv x.v1@1.0.0 of:x\n    csv a.v2@2.0.0 of:a needs:x:>=1.0.0
    catalog olm/dead 0 away\n    sub a a/alpha in:olm/dead is:a.v2\n    sub x x/alpha is:x.v1",
    ""
)]
fn subscriptions_that_share_no_operator_are_apart(#[case] namespace: &str, #[case] expected: &str) {
    assert_eq!(parts(&format!("{THREE}\n    {namespace}"), Policy::Isolated), expected);
}

/// The old version provides what the new version of another operator provides: they move together.
#[test]
fn an_api_that_moves_keeps_two_together() {
    let namespace = "
    a.v1@1.0.0 a/alpha +1
    a.v2@2.0.0 a/alpha ->a.v1
    b.v1@1.0.0 b/alpha
    b.v2@2.0.0 b/alpha ->b.v1 +1
    c.v1@1.0.0 c/alpha
    csv a.v1 +1
    csv b.v1
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1
    sub c c/alpha";
    let together = "a.v2 for a + b.v2 for b; c.v1 for c";
    assert_eq!(parts(namespace, Policy::Isolated), together);
    assert_eq!(parts(namespace, Policy::V0), "a.v2 for a + b.v2 for b + c.v1 for c");
}
