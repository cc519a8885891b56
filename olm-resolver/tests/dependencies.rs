//! What the documents for users say about dependencies, a sentence each: OLM's page on dependency
//! resolution, and OpenShift's on dependencies and upgrades of definitions.

use rstest::rstest;

use crate::support::{Problem, VERSION_DEADLOCK, answer, failure};

/// OLM's page: providers of required APIs, and upgrades that belong together.
#[rstest]
#[case::a_required_api_is_searched_in_the_catalogs(
    "a.v1 a/alpha ?1\nb.v1 b/alpha +1\nsub a a/alpha",
    "a.v1 b.v1"
)]
#[case::without_an_owner_it_is_not_installed("a.v1 a/alpha ?1\nsub a a/alpha", "unsat")]
#[case::the_catalog_of_the_dependent_comes_first(
    "
    catalog olm/first 100
    far.v1 far/alpha +1
    catalog olm/own
    a.v1 a/alpha ?1
    near.v1 near/alpha +1
    sub a a/alpha in:olm/own",
    "a.v1 near.v1"
)]
#[case::then_the_remaining_ones(
    "
    catalog olm/other
    far.v1 far/alpha +1
    catalog olm/own
    a.v1 a/alpha ?1
    sub a a/alpha in:olm/own",
    "a.v1 far.v1"
)]
#[case::all_subscriptions_are_looked_at_together(VERSION_DEADLOCK, "a.v2 b.v2")]
#[case::an_update_does_not_break_another_operator(
    "
    a.v1 a/alpha ?1
    b.v1 b/alpha +1
    b.v2 b/alpha ->b.v1 +2
    csv a.v1 ?1
    csv b.v1 +1
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1",
    ""
)]
#[case::a_required_api_of_an_installed_csv_counts("b.v1 b/alpha +1\ncsv mine ?1", "b.v1")]
#[case::an_owned_api_of_an_installed_csv_counts(
    "a.v1 a/alpha ?1\nb.v1 b/alpha +1\ncsv mine +1\nsub a a/alpha",
    "a.v1"
)]
fn dependencies(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(answer(text), wanted);
}

/// How one of several options is chosen.
#[rstest]
#[case::higher_priority(
    "
    catalog olm/low 1
    low.v1 b/alpha +1
    catalog olm/high 2
    high.v1 b/alpha +1
    catalog olm/own 0
    a.v1 a/alpha ?1
    sub a a/alpha in:olm/own",
    "a.v1 high.v1"
)]
#[case::own_catalog_before_priority(
    "
    catalog olm/high 2
    high.v1 b/alpha +1
    catalog olm/own 0
    own.v1 b/alpha +1
    a.v1 a/alpha ?1
    sub a a/alpha in:olm/own",
    "a.v1 own.v1"
)]
#[case::default_channel(
    "a.v1 a/alpha ?1\nb.v1 b/alpha +1\nb.v2 b/zeta* +1\nsub a a/alpha",
    "a.v1 b.v2"
)]
#[case::other_channels_by_name(
    "a.v1 a/alpha ?1\nb.v1 b/beta +1\nb.v2 b/alpha +1\nb.v3 b/zeta*\nsub a a/alpha",
    "a.v1 b.v2"
)]
#[case::newest_of_the_channel(
    "a.v1 a/alpha ?1\nb.v1 b/alpha +1\nb.v2 b/alpha ->b.v1 +1\nsub a a/alpha",
    "a.v1 b.v2"
)]
#[case::the_head_only_if_it_satisfies(
    "a.v1 a/alpha ?1\nb.v1 b/alpha +1\nb.v2 b/alpha ->b.v1\nsub a a/alpha",
    "a.v1 b.v1"
)]
#[case::a_subscription_chooses_its_channel("a.v1 a/alpha\na.v2 a/beta*\nsub a a/alpha", "a.v1")]
#[case::what_is_installed_is_kept_updated(
    "a.v1 a/alpha\na.v2 a/alpha ->a.v1\ncsv a.v1\nsub a a/alpha is:a.v1",
    "a.v2"
)]
#[case::two_dependencies_may_be_met_by_two_operators(
    "
    a.v1 a/alpha needs:b:>3.1.0 ?1
    b.v4@4.0.0 b/alpha
    c.v1 c/alpha +1
    sub a a/alpha",
    "a.v1 b.v4 c.v1"
)]
fn preferences(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(answer(text), wanted);
}

/// `olm.constraint` of bundle `red`, beside packages blue and green.
#[rstest]
#[case::cel_over_properties(
    r#"{"cel":{"rule":"properties.exists(p,p.type=='certified')"}}"#,
    "blue.v1 red.v1"
)]
#[case::cel_with_two_rules(
    r#"{"cel":{"rule":"properties.exists(p,p.type=='certified')&&properties.exists(p,p.type=='stable')"}}"#,
    "unsat"
)]
#[case::all(
    r#"{"all":{"constraints":[{"package":{"packageName":"blue","versionRange":">=1.0.0"}},{"gvk":{"group":"g1","version":"v1","kind":"k1"}}]}}"#,
    "blue.v1 red.v1"
)]
#[case::all_is_about_one_bundle(
    r#"{"all":{"constraints":[{"package":{"packageName":"blue","versionRange":">=1.0.0"}},{"gvk":{"group":"g2","version":"v2","kind":"k2"}}]}}"#,
    "unsat"
)]
#[case::any(
    r#"{"any":{"constraints":[{"gvk":{"group":"g9","version":"v9","kind":"k9"}},{"gvk":{"group":"g2","version":"v2","kind":"k2"}}]}}"#,
    "green.v1 red.v1"
)]
#[case::not_removes_candidates(
    r#"{"all":{"constraints":[{"package":{"packageName":"blue","versionRange":">=0.0.0"}},{"not":{"constraints":[{"gvk":{"group":"g1","version":"v1","kind":"k1"}}]}}]}}"#,
    "blue.v0 red.v1"
)]
#[case::nested(
    r#"{"any":{"constraints":[{"all":{"constraints":[{"package":{"packageName":"blue","versionRange":">=2.0.0"}},{"gvk":{"group":"g1","version":"v1","kind":"k1"}}]}},{"all":{"constraints":[{"package":{"packageName":"blue","versionRange":"<2.0.0"}},{"gvk":{"group":"g1","version":"v1","kind":"k1"}}]}}]}}"#,
    "blue.v1 red.v1"
)]
fn constraints(#[case] constraint: &str, #[case] wanted: &str) {
    let text = format!(
        "
        red.v1 red/alpha {constraint}
        blue.v0@0.9.0 blue/alpha
        blue.v1@1.2.0 blue/alpha ->blue.v0 +1 property:certified=true
        green.v1@1.0.0 green/alpha +2
        sub red red/alpha"
    );
    assert_eq!(answer(&text), wanted);
}

/// "This GVK cannot be provided by any bundle in the result set": v0 asks one candidate alone, and so do
/// we. Others may provide it.
#[test]
fn a_negation_concerns_one_candidate_only() {
    let blue_without_k2 = r#"{"all":{"constraints":[{"package":{"packageName":"blue","versionRange":">=1.0.0"}},{"not":{"constraints":[{"gvk":{"group":"g2","version":"v2","kind":"k2"}}]}}]}}"#;
    let text = format!(
        "
        red.v1 red/alpha {blue_without_k2}
        blue.v1@1.2.0 blue/alpha +1
        green.v1@1.0.0 green/alpha +2
        sub green green/alpha
        sub red red/alpha"
    );
    assert_eq!(answer(&text), "blue.v1 green.v1 red.v1");
}

/// The document writes `name` for the package; v0 knows only `packageName`, and so do we.
#[test]
fn the_documents_name_of_a_package_is_refused_as_in_v0() {
    let constraint = r#"{"package":{"name":"blue","versionRange":">=1.0.0"}}"#;
    let text = failure(&format!("a.v1 a/alpha {constraint}\nsub a a/alpha"));
    assert!(text.contains("json: unknown field \"name\""), "{text}");
}

/// Ranges, with the page's own example.
#[rstest]
#[case(">0.27.0", "b.v3")]
#[case("0.5.2", "b.v0")]
#[case(">_1.0.0_!1.2.1", "b.v3")]
#[case(">1.0.0_<2.0.0", "b.v2")]
#[case("<1.0.0_||_>=9.0.0", "b.v0")]
fn ranges(#[case] range: &str, #[case] wanted: &str) {
    let text = format!(
        "
        a.v1 a/alpha needs:b:{range}
        b.v0@0.5.2 b/alpha
        b.v1@1.2.0 b/alpha ->b.v0
        b.v2@1.2.1 b/alpha ->b.v1
        b.v3@3.0.0 b/alpha ->b.v2
        sub a a/alpha"
    );
    assert_eq!(answer(&text), format!("a.v1 {wanted}"));
}

/// `olm.kubeversion` matters where the version of the cluster is known.
#[rstest]
#[case::old_enough("cluster 1.16.0", "a.v2")]
#[case::too_old("cluster 1.15.9", "a.v1")]
#[case::not_checked("", "a.v2")]
fn the_version_of_kubernetes(#[case] cluster: &str, #[case] wanted: &str) {
    let new = r#"a.v2 a/alpha ->a.v1 property:olm.kubeversion={"version":"1.16.0"}"#;
    assert_eq!(answer(&format!("{cluster}\na.v1 a/alpha\n{new}\nsub a a/alpha")), wanted);
}

/// What never is together in a namespace.
#[rstest]
#[case::two_bundles_of_a_package("a.v1 a/alpha\na.v2 a/beta\nsub a a/alpha\nsub b a/beta")]
#[case::two_providers_of_an_api("a.v1 a/alpha +1\nb.v1 b/alpha +1\nsub a a/alpha\nsub b b/alpha")]
#[case::an_api_without_its_provider("csv mine ?1")]
fn invariants(#[case] text: &str) {
    assert_eq!(answer(text), "unsat");
}

#[test]
fn unknown_properties_are_opaque() {
    let text = "a.v1 a/alpha property:color=red property:shape={} property:olm.maxOpenShiftVersion=\"4.9\"\nsub a a/alpha";
    let properties = Problem::read(text).entries[0].properties.len();
    assert_eq!((properties, answer(text).as_str()), (4, "a.v1"));
}
