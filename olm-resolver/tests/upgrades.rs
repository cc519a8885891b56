//! What OpenShift 4.3's guide to OLM says about upgrades and dependencies, a sentence each; its examples
//! of deadlock and deprecation are those of its page on dependencies, too (`dependencies`). On a cluster
//! they are the scenarios `upgrades` and `dependencies`.
//!
//! Its other sentences: an OLM Operator beside others (2.1.4.1) is scenario `side_by_side`, required
//! resources that users create are `alone::csv_by_hand`, membership as a condition of installs is
//! `olm-lifecycle/src/csv/tests/groups.rs`; InstallPlans that users create (2.1.4.2) are scenario
//! `install_plans::by_hand`; metrics (2.1.5) are `idle::no_writes`; upgrades of definitions (2.2.2)
//! are `olm-lifecycle/src/crd/tests/mod.rs` and scenarios `install_plans::a_version_retires`,
//! `objects_that_do_not_fit` and `two_owners`; OperatorGroups (2.3) are in olm-opgroup
//! `tests/groups.rs`.

use rstest::rstest;

use crate::support::{VERSION_DEADLOCK, answer, failure};

/// Names of the versions that are installed one after the other, from `first` to the end of the
/// channel `a/alpha` that `entries` describe.
fn way(first: &str, entries: &str) -> Vec<String> {
    let mut way = vec![first.to_owned()];
    while let Some(name) = way.last() {
        let number = name.trim_start_matches("a.v");
        let next = with(entries, &format!("csv {name}@{number}\nsub a a/alpha is:{name}"));
        if next.is_empty() || way.len() > 9 {
            break;
        }
        way.push(next);
    }
    way
}

/// The answer to a channel and what is in the namespace.
fn with(entries: &str, namespace: &str) -> String {
    answer(&problem(entries, namespace))
}

fn problem(entries: &str, namespace: &str) -> String {
    let lines: Vec<&str> = entries.lines().map(str::trim).collect();
    format!("{}\n{namespace}", lines.join("\n"))
}

/// "If a Subscription is made to a package that has not yet been installed in the namespace, the
/// latest Operator for that package is installed", and 'the "latest" … does not necessarily need to
/// be the highest version number'.
#[rstest]
#[case::the_head(
    "a.v1.0.0@1.0.0 a/alpha\na.v1.1.0@1.1.0 a/alpha ->a.v1.0.0\nsub a a/alpha",
    "a.v1.1.0"
)]
#[case::not_the_number(
    "a.v9.0.0@9.0.0 a/alpha\na.v1.1.0@1.1.0 a/alpha ->a.v9.0.0\nsub a a/alpha",
    "a.v1.1.0"
)]
#[case::of_the_channel("a.v1.0.0@1.0.0 a/alpha\na.v2.0.0@2.0.0 a/beta\nsub a a/alpha", "a.v1.0.0")]
fn the_latest_is_the_head_of_the_channel(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(answer(text), wanted);
}

/// "OLM upgrades the Operator one version at the time until it reaches the channel head": example
/// upgrade path 0.1.1, 0.1.2, 0.1.3.
#[test]
fn one_version_at_a_time() {
    let channel = "
        a.v0.1.1@0.1.1 a/alpha
        a.v0.1.2@0.1.2 a/alpha ->a.v0.1.1
        a.v0.1.3@0.1.3 a/alpha ->a.v0.1.2";
    assert_eq!(way("a.v0.1.1", channel), ["a.v0.1.1", "a.v0.1.2", "a.v0.1.3"]);
}

const OLD_CATALOG: &str = "
        a.v0.9.0@0.9.0 a/alpha
        a.v0.9.1@0.9.1 a/alpha ->a.v0.9.0";
const NEW_CATALOG: &str = "
        a.v0.9.0@0.9.0 a/alpha
        a.v0.9.2@0.9.2 a/alpha ->a.v0.9.0 ~a.v0.9.1";
const NEW_CATALOG_WITH_THE_BAD_ONE: &str = "
        a.v0.9.0@0.9.0 a/alpha
        a.v0.9.1@0.9.1 a/alpha ->a.v0.9.0
        a.v0.9.2@0.9.2 a/alpha ->a.v0.9.0 ~a.v0.9.1";

/// "Any Operator found in Old CatalogSource has a single replacement in New CatalogSource", and so
/// has any that is found in the new one; "if the bad update has not yet been installed, it will
/// never be".
#[rstest]
#[case::in_the_old_one(OLD_CATALOG, "a.v0.9.0", &["a.v0.9.1"])]
#[case::the_bad_one_is_not_installed(NEW_CATALOG, "a.v0.9.0", &["a.v0.9.2"])]
#[case::the_bad_one_is_installed(NEW_CATALOG, "a.v0.9.1", &["a.v0.9.2"])]
#[case::it_is_there_and_not_installed(NEW_CATALOG_WITH_THE_BAD_ONE, "a.v0.9.0", &["a.v0.9.2"])]
#[case::it_is_there_and_installed(NEW_CATALOG_WITH_THE_BAD_ONE, "a.v0.9.1", &["a.v0.9.2"])]
#[case::nothing_replaces_the_head(NEW_CATALOG, "a.v0.9.2", &[])]
fn skipped_updates(#[case] catalog: &str, #[case] installed: &str, #[case] then: &[&str]) {
    assert_eq!(way(installed, catalog)[1..], *then);
}

#[rstest]
#[case::new(NEW_CATALOG)]
#[case::with_the_bad_one(NEW_CATALOG_WITH_THE_BAD_ONE)]
fn a_fresh_install_never_sees_the_bad_update(#[case] catalog: &str) {
    assert_eq!(with(catalog, "sub a a/alpha"), "a.v0.9.2");
}

/// "If the head of a channel has a skipRange annotation and the currently installed Operator has a
/// version field that falls in the range, OLM updates to the latest entry in the channel"; of the
/// order of precedence what concerns the source of the Subscription.
#[rstest]
#[case::in_the_range("4.1.0", &["a.v4.1.2"])]
#[case::below_it("4.0.0", &["a.v4.1.0", "a.v4.1.2"])]
fn ranges_of_skipped_versions(#[case] installed: &str, #[case] then: &[&str]) {
    let channel = "
        a.v4.1.0@4.1.0 a/alpha ->a.v4.0.0
        a.v4.1.1@4.1.1 a/alpha ->a.v4.1.0
        a.v4.1.2@4.1.2 a/alpha ->a.v4.1.1 range:>=4.1.0_<4.1.2";
    assert_eq!(way(&format!("a.v{installed}"), channel)[1..], *then);
}

/// Z-streams: "a z-stream, or patch release, must replace all previous z-stream releases for the
/// same minor version", and "unavailable releases can be considered virtual graph nodes; their
/// content does not need to exist".
#[rstest]
#[case::first("a.v1.0.0", &["a.v1.0.2", "a.v1.1.1"])]
#[case::unavailable("a.v1.0.1", &["a.v1.0.2", "a.v1.1.1"])]
#[case::latest_of_its_minor("a.v1.0.2", &["a.v1.1.1"])]
#[case::unavailable_of_the_next_minor("a.v1.1.0", &["a.v1.1.1"])]
#[case::latest("a.v1.1.1", &[])]
fn z_streams(#[case] installed: &str, #[case] then: &[&str]) {
    let channel = "
        a.v1.0.2@1.0.2 a/alpha ->a.v1.0.0 ~a.v1.0.1
        a.v1.1.1@1.1.1 a/alpha ->a.v1.0.2 ~a.v1.1.0";
    assert_eq!(way(installed, channel)[1..], *then);
}

/// "OLM must never … install a set of Operators that require APIs that cannot be provided".
#[rstest]
#[case::no_bundle_provides_it("a.v1 a/alpha ?1\nsub a a/alpha")]
#[case::nor_for_a_dependency("a.v1 a/alpha ?1\nb.v1 b/alpha +1 ?2\nsub a a/alpha")]
fn nothing_is_installed_that_cannot_work(#[case] text: &str) {
    let reported = failure(text);
    assert!(reported.contains("requires an operator providing an API with group"), "{reported}");
}

/// "… or update an Operator in a way that breaks another that depends upon it": the examples of
/// 2.2.3, and what issues of upgrades are about besides.
#[rstest]
#[case::deprecating_dependent_apis(
    "
    a.v1 a/alpha +1 ?2
    b.v1 b/alpha +2
    b.v2 b/alpha ->b.v1 +3
    csv a.v1 +1 ?2
    csv b.v1 +2
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1",
    ""
)]
#[case::the_dependent_moves_along(
    "
    a.v1 a/alpha +1 ?2
    a.v2 a/alpha ->a.v1 +1 ?3
    b.v1 b/alpha +2
    b.v2 b/alpha ->b.v1 +3
    csv a.v1 +1 ?2
    csv b.v1 +2
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1",
    "a.v2 b.v2"
)]
#[case::another_takes_the_api_over(
    "
    a.v1 a/alpha +1 ?2
    b.v1 b/alpha +2
    b.v2 b/alpha ->b.v1 +3
    c.v1 c/alpha +2
    csv a.v1 +1 ?2
    csv b.v1 +2
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1",
    "b.v2 c.v1"
)]
#[case::version_deadlock(VERSION_DEADLOCK, "a.v2 b.v2")]
#[case::half_a_version_deadlock_is_none(
    "
    a.v1 a/alpha +1 ?2
    a.v2 a/alpha ->a.v1 +3 ?4
    b.v1 b/alpha +2 ?1
    csv a.v1 +1 ?2
    csv b.v1 +2 ?1
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1",
    ""
)]
#[case::a_new_version_requires_what_no_bundle_provides(
    "
    a.v1 a/alpha
    a.v2 a/alpha ->a.v1 ?9
    csv a.v1
    sub a a/alpha is:a.v1",
    ""
)]
fn an_update_breaks_no_bundle(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(answer(text), wanted);
}

/// "A catalog must be able to return, unambiguously and deterministically, a single CSV that
/// replaces the input CSV": one that cannot is no channel to follow.
#[test]
fn two_replacements_are_none() {
    let channel = "
        a.v1.0.0@1.0.0 a/alpha
        a.v1.1.0@1.1.0 a/alpha ->a.v1.0.0
        a.v1.2.0@1.2.0 a/alpha ->a.v1.0.0";
    let reported = failure(&problem(channel, "sub a a/alpha"));
    assert!(reported.contains("a unique replacement chain"), "{reported}");
}

/// "Channel head in another source that is visible to the Subscription" and "the next Operator that
/// replaces the current one in any source visible": the third and fourth row of the order of precedence.
/// v0 looks in the Subscription's own source alone, and so do we.
#[rstest]
#[case::the_head_of_another_source(
    "a.v5@5.0.0 a/alpha ->a.v1\na.v9@9.0.0 a/alpha ->a.v5 range:<9.0.0",
    "a.v9"
)]
#[case::the_next_of_another_source("a.v2@2.0.0 a/alpha ->a.v1", "a.v2")]
fn another_source_is_not_looked_at(#[case] newer: &str, #[case] name: &str) {
    let namespace = "csv a.v1@1.0.0\nsub a a/alpha in:olm/own is:a.v1";
    let own = "catalog olm/own\na.v1@1.0.0 a/alpha";
    assert_eq!(answer(&format!("{own}\n{newer}\n{namespace}")), name);
    assert_eq!(answer(&format!("{own}\ncatalog olm/other\n{newer}\n{namespace}")), "");
}

/// "Precedence" of catalogs where a Subscription names none: v0 usually refuses to choose ("2 replacement
/// chains"); ours takes the order that dependencies have.
#[test]
fn a_subscription_without_a_catalog_takes_the_preferred_one() {
    let text = "catalog olm/low 1\nlow.v1 a/alpha\ncatalog olm/high 2\nhigh.v1 a/alpha\nsub a a/alpha in:any";
    assert_eq!(answer(text), "high.v1");
}
