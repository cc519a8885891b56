//! Bad input ends in bounded time with an error that names the bundle, the property or the channel.

use olm_resolver::cases::Case;
use olm_resolver::{Policy, ResolveError, Resolver};
use rstest::rstest;

use crate::support::{self, answer, failure};

#[rstest]
#[case::r3_two_chains(
    "s1.v1 t/alpha\ns1.v2 t/alpha ->s1.v1\ns2.v1 t/alpha\ns2.v2 t/alpha ->s2.v1\nsub t t/alpha",
    "a unique replacement chain within a channel is required to determine the relative order between channel entries, \
     but 2 replacement chains were found in channel \"alpha\" of package \"t\": s1.v2...s1.v1, s2.v2...s2.v1"
)]
#[case::no_head(
    "a t/alpha ->b\nb t/alpha ->a\nsub t t/alpha",
    "no channel heads (entries not replaced by another entry) found in channel \"alpha\" of package \"t\""
)]
#[case::replaces_itself(
    "a t/alpha ->a\nsub t t/alpha",
    "no channel heads (entries not replaced by another entry) found in channel \"alpha\" of package \"t\""
)]
#[case::skips_itself(
    "a t/alpha ~a\nsub t t/alpha",
    "no channel heads (entries not replaced by another entry) found in channel \"alpha\" of package \"t\""
)]
#[case::cycle(
    "a t/alpha ->b\nb t/alpha ->c\nc t/alpha ->b\nsub t t/alpha",
    "a cycle exists in the chain of replacement beginning with \"a\" in channel \"alpha\" of package \"t\""
)]
#[case::catalog_away(
    "catalog olm/dead 0 no_registry_client_established_for_catalogsource_olm/dead",
    "error using catalogsource olm/dead: no registry client established for catalogsource olm/dead"
)]
#[case::annotation(
    "csv a.v1 unreadable:invalid_character",
    "error using catalogsource olm/@existing: failed to retrieve properties of csv \"a.v1\": invalid character"
)]
#[case::two_packages(
    "same.v1 a/stable\nsame.v1 b/stable\nsub a a/stable",
    "expected exactly one operator, got 2: several packages of the catalog hold bundle community/olm/stable/same.v1 \
     in a channel of this name: rename the bundle in one of them"
)]
#[case::two_faults(
    "a.v1 a/stable ->a.v1\nb.v1 b/stable ->b.v1\nsub a a/stable\nsub b b/stable",
    "[no channel heads (entries not replaced by another entry) found in channel \"stable\" of package \"a\", \
     no channel heads (entries not replaced by another entry) found in channel \"stable\" of package \"b\"]"
)]
fn faults(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(failure(text), wanted);
}

#[rstest]
#[case::range(
    "needs:b:~1.0",
    "bundle community/olm/alpha/a.v1: property olm.package.required: Could not parse Range \"~1.0\""
)]
#[case::range_of_constraint(
    r#"{"package":{"packageName":"b","versionRange":">=1.0.0\u0020||\u0020||\u0020<0.5.0"}}"#,
    "bundle community/olm/alpha/a.v1: property olm.constraint: convert olm.constraint"
)]
#[case::no_json(
    "property:olm.gvk.required={",
    "bundle community/olm/alpha/a.v1: property olm.gvk.required: "
)]
#[case::wrong_type(
    "property:olm.gvk.required=5",
    "bundle community/olm/alpha/a.v1: property olm.gvk.required: "
)]
#[case::unknown_member(r#"{"some":1}"#, "json: unknown field \"some\"")]
#[case::empty("{}", "convert olm.constraint to resolver predicate: constraint is empty")]
#[case::cel(r#"{"cel":{"rule":"1"}}"#, "cel expressions must have type Bool")]
fn malformed_properties(#[case] word: &str, #[case] wanted: &str) {
    let text = failure(&format!("a.v1 a/alpha {word}\nb.v1 b/alpha\nsub a a/alpha"));
    assert!(text.contains(wanted), "{text}");
}

/// Which property, and where in its value. Each is the bundle's second, after `olm.package`.
#[rstest]
#[case::range("needs:b:>=1.0.0_~1.0", r#"~1.0"#)]
#[case::range_of_constraint(
    r#"{"all":{"constraints":[{"package":{"packageName":"b","versionRange":">=1.0.0\u0020^2"}}]}}"#,
    r#">=1.0.0\u0020^2"#
)]
#[case::second_range(
    r#"{"any":{"constraints":[{"package":{"packageName":"b","versionRange":"1.0.0"}},{"package":{"packageName":"b","versionRange":"<v2.0.0"}}]}}"#,
    "<v2.0.0"
)]
#[case::member(r#"{"gvk":{"group":"g","versoin":"v"}}"#, r#""versoin""#)]
#[case::wrong_type(r#"{"cel":{"rule":7}}"#, r#""rule""#)]
#[case::cel_name(r#"{"cel":{"rule":"1==1&&bundle.name=='m'"}}"#, "bundle.name")]
#[case::cel_types(r#"{"cel":{"rule":"1==1&&1=='a'"}}"#, "=='a'")]
fn malformed_places(#[case] word: &str, #[case] part: &str) {
    let text = format!("a.v1 a/alpha {word}\nb.v1 b/alpha\nsub a a/alpha");
    let value = support::Problem::read(&text).entries.remove(0).properties[1].value.clone();
    let place = format!("(property 2, byte {} of its value)", value.find(part).unwrap());
    let error = failure(&text);
    assert!(error.ends_with(&place), "{error}\nexpected {place}");
}

#[test]
fn malformed_properties_out_of_reach_are_harmless() {
    assert_eq!(answer("a.v1 a/alpha\nb.v1 b/alpha needs:c:~1 +1\nsub a a/alpha"), "a.v1");
}

#[test]
fn deeply_nested_constraints_end() {
    let deep =
        format!("{}{{}}{}", r#"{"not":{"constraints":["#.repeat(20_000), "]}}".repeat(20_000));
    let text = failure(&format!("a.v1 a/alpha {deep}\nsub a a/alpha"));
    assert!(text.contains("property olm.constraint: parse olm.constraint"), "{text}");
}

#[test]
fn a_search_that_takes_too_long_says_so() {
    let resolver = Resolver {
        solver: Box::new(olm_resolver::solver::OrderedSearch { steps: 1 }),
        ..Resolver::default()
    };
    let text = "a.v1 a/alpha ?1\nb.v1 b/alpha +1\nc.v1 c/alpha +1\nsub a a/alpha";
    let error = support::Problem::read(text).resolve(&resolver).unwrap_err();
    assert!(matches!(error, ResolveError::Exhausted { .. }), "{error}");
}

#[test]
fn many_faults_are_counted() {
    let packages: String =
        (0..30).map(|n| format!("p{n} p{n}/a ->p{n}\nsub s{n} p{n}/a\n")).collect();
    let text = failure(&packages);
    assert!(text.ends_with(", and 20 more]"), "{text}");
}

#[test]
fn only_an_absent_catalog_is_worth_a_retry() {
    let retryable = |text: &str| {
        support::Problem::read(text).resolve(&Resolver::default()).unwrap_err().is_retryable()
    };
    assert!(retryable("catalog olm/dead 0 gone"));
    assert!(!retryable("a.v1 a/alpha ?1\nsub a a/alpha"));
    assert!(!retryable("a.v1 a/alpha ->a.v1\nsub a a/alpha"));
}

#[rstest]
#[case::no_json("{", "case does not parse")]
#[case::no_name("{}", "missing field `name`")]
#[case::wrong_type(r#"{"name":5}"#, "invalid type")]
fn lines_that_are_no_cases(#[case] line: &str, #[case] wanted: &str) {
    let text = Case::parse(line).unwrap_err().to_string();
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn csv_versions_of_cases_are_checked() {
    let line = r#"{"name":"a","namespace":"n","catalogs":[],"subscriptions":[],
        "installed":[{"name":"a.v1","version":"one"}]}"#;
    let error = Case::parse(line).unwrap().run(&Resolver::default(), Policy::V0).unwrap_err();
    assert!(error.to_string().starts_with("version \"one\" of a.v1 does not parse: "), "{error}");
}
