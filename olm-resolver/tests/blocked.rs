//! Upgrades that are blocked, and the changes after which they are not.

use olm_resolver::{Policy, Resolver};
use rstest::rstest;

use crate::support::Problem;

/// Another operator needs the version that is installed.
const NEEDED: &str = "
    b.v1@1.0.0 b/alpha
    b.v2@2.0.0 b/alpha ->b.v1
    a.v1 a/alpha needs:b:<2.0.0
    csv a.v1 of:a needs:b:<2.0.0
    csv b.v1@1.0.0 of:b
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1";

/// Nothing provides what the newer version requires.
const UNMET: &str = "
    a.v2 a/alpha ->a.v1 ?1
    a.v1 a/alpha
    csv a.v1
    sub a a/alpha is:a.v1";

/// The newer version is malformed.
const MALFORMED: &str = "
    a.v2 a/alpha ->a.v1 needs:b:~1
    a.v1 a/alpha
    sub a a/alpha";

#[rstest]
#[case::needed(NEEDED, &["move Subscription a with ClusterServiceVersion a.v1 to another namespace"])]
#[case::unmet(UNMET, &["create a CatalogSource that provides the API k1 (g1/v1)"])]
#[case::malformed(MALFORMED, &[])]
fn what_lets_a_newer_version_in_was_tried(#[case] text: &str, #[case] expected: &[&str]) {
    let (problem, resolver) = (Problem::read(text), Resolver::default());
    let universe = problem.universe();
    let request = problem.request(&universe);
    let answer = resolver.outcome(&request, Policy::Isolated);
    let [upgrade] = answer.blocked.as_slice() else { panic!("{answer:?}") };
    assert!(upgrade.explanation.repairs().is_empty(), "an outcome holds none: {upgrade:?}");
    let found = resolver.unblocking(&request, upgrade);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
    let none = Resolver { repairs: 0, ..Resolver::default() };
    let answer = none.outcome(&request, Policy::Isolated);
    assert!(answer.blocked.iter().all(|upgrade| none.unblocking(&request, upgrade).is_empty()));
}
