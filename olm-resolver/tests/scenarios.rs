//! OLM v0's resolver scenarios (spec catalog-operator 9.1, rows R1 to R35).

use std::sync::Arc;

use olm_resolver::constraint::ClassicConstraints;
use olm_resolver::problem::{Bundle, Missing, Reason, Rule, VariableId};
use olm_resolver::{ConstraintSource, Fault, Problem, Resolver, Scope};
use rstest::rstest;

use crate::support::{self, answer, outcome};

#[rstest]
#[case::r1(
    "
    test-package.v1@0.0.1 test-package/alpha
    another-package.v1@1.0.1 another-package/alpha
    csv test-package.v1 +1
    sub t test-package/alpha is:test-package.v1
    sub a another-package/alpha",
    "another-package.v1"
)]
#[case::r4(
    "
    another-package.v1@1.0.0 another-package/alpha
    another-package.v1@1.0.0 another-package/beta
    sub a another-package/alpha
    csv test-package.v1 +1
    sub t test-package/alpha is:test-package.v1
    test-package.v1 test-package/alpha",
    "another-package.v1"
)]
#[case::r5(
    "
    test-package.v1 test-package/alpha
    test-package.v1.0.1@1.0.1 test-package/alpha ->test-package.v1
    another-package.v0.9.0@0.9.0 another-package/alpha
    another-package.v1.0.0@1.0.0 another-package/alpha ->another-package.v0.9.0
    another-package.v1.0.1@1.0.1 another-package/alpha ->another-package.v1.0.0
    csv test-package.v1 +1
    sub t test-package/alpha is:test-package.v1
    sub a another-package/alpha",
    "another-package.v1.0.1 test-package.v1.0.1"
)]
#[case::r7_nested(
    "
    a.v1 a/alpha needs:c:1.0.1 needs:d:1.0.1
    c.v1.0.0@1.0.0 c/alpha needs:e:1.0.1
    c.v1.0.1@1.0.1 c/alpha ->c.v1.0.0 needs:e:1.0.1
    d.v1.0.1@1.0.1 d/alpha
    e.v1.0.0@1.0.0 e/alpha
    e.v1.0.1@1.0.1 e/alpha ->e.v1.0.0
    sub a a/alpha",
    "a.v1 c.v1.0.1 d.v1.0.1 e.v1.0.1"
)]
#[case::r10_api(
    "
    test-package.v1 test-package/alpha
    another-package.v1 another-package/alpha ?1
    packageC.v1 packageC/alpha +1
    csv test-package.v1
    sub t test-package/alpha is:test-package.v1
    sub a another-package/alpha",
    "another-package.v1 packageC.v1"
)]
#[case::r11_label(
    "
    test-package.v1 test-package/alpha ?label:lts
    another-package.v1 another-package/beta label:lts
    sub t test-package/alpha",
    "another-package.v1 test-package.v1"
)]
#[case::r12_no_label(
    "
    test-package.v1 test-package/alpha ?label:lts
    sub t test-package/alpha",
    "unsat"
)]
#[case::r21_default_channel(
    "
    test-package.v0.0.2@0.0.2 test-package/alpha
    test-package.v0.0.1@0.0.1 test-package/stable*
    sub t test-package",
    "test-package.v0.0.1"
)]
#[case::r22_default_channel_of_dependency(
    "
    test-package.v0.0.1 test-package/alpha ?1
    another-package.v0.0.1 another-package/stable* +1
    another-package.v0.0.2 another-package/alpha +1
    sub t test-package/alpha",
    "another-package.v0.0.1 test-package.v0.0.1"
)]
#[case::r23_orphan_provides(
    "
    csv test-package.v1 +1
    another-package.v1.0.0 another-package/alpha ?1
    another-package.v1.0.1 another-package/alpha ->another-package.v1.0.0 ?1
    sub a another-package/alpha",
    "another-package.v1.0.1"
)]
#[case::r24_orphan_conflicts(
    "
    csv test-package.v1 +1
    another-package.v1.0.0 another-package/alpha +1
    another-package.v1.0.1 another-package/alpha ->another-package.v1.0.0 +1
    sub a another-package/alpha",
    "unsat"
)]
#[case::r25_package_cannot_meet_itself(
    "
    opA test-package/stable ?1 ?2
    opABC test-package/alpha +1 +2
    opB another-package/stable* +1
    opD another-package/alpha +1
    catalog olm/secondary
    opC another-package/stable* +2
    opE packageC/stable +2
    sub t test-package/stable",
    "opB opE opA"
)]
#[case::r26_api_moves_1(
    "
    opA.v1.0.0 test-package/stable +1
    opB.v1.0.0 another-package/stable* ?1 +2
    sub a another-package/stable",
    "opB.v1.0.0 opA.v1.0.0"
)]
#[case::r26_api_moves_2(
    "
    opA.v1.0.0 test-package/stable +1
    opA.v1.0.1 test-package/stable ->opA.v1.0.0
    opB.v1.0.0 another-package/stable* ?1 +2
    csv opA.v1.0.0 +1
    csv opB.v1.0.0 ?1 +2
    sub t test-package/stable is:opA.v1.0.0
    sub a another-package/stable is:opB.v1.0.0",
    ""
)]
#[case::r26_api_moves_3(
    "
    opA.v1.0.0 test-package/stable +1
    opA.v1.0.1 test-package/stable ->opA.v1.0.0
    opB.v1.0.0 another-package/stable* ?1 +2
    opB.v1.0.1 another-package/stable* ->opB.v1.0.0 +1 +2
    csv opA.v1.0.0 +1
    csv opB.v1.0.0 ?1 +2
    sub t test-package/stable is:opA.v1.0.0
    sub a another-package/stable is:opB.v1.0.0",
    "opB.v1.0.1 opA.v1.0.1"
)]
#[case::r27_deprecated(
    "
    test-package.v1 test-package/alpha deprecated
    sub t test-package/alpha",
    "unsat"
)]
#[case::r28_deprecated_inner(
    "
    a-1 a/alpha
    a-2 a/alpha ->a-1 deprecated
    a-3 a/alpha ->a-2
    sub a a/alpha",
    "a-3"
)]
#[case::r29_skips_and_start(
    "
    another-package.v1 another-package/alpha ?1
    another-package.v2 another-package/alpha ~another-package.v1 ?1
    t.v1 t/alpha +1
    t.v2 t/alpha ->t.v1 +1
    t.v3 t/alpha ->t.v2 +1
    t.v4 t/alpha ->t.v3 ~t.v3 +1
    t.v5 t/alpha ->t.v4 ~t.v2,t.v3,t.v4 +1
    t.v6 t/alpha ->t.v5 +1
    sub a another-package/alpha start:another-package.v1",
    "another-package.v1 t.v6"
)]
#[case::r30_skips(
    "
    another-package.v1 another-package/alpha
    another-package.v2 another-package/alpha ~another-package.v1
    sub a another-package/alpha",
    "another-package.v2"
)]
#[case::r31_skips_prevent(
    "
    a-1 a/alpha ?1
    b-1 b/alpha +1
    b-2 b/alpha ->b-1
    b-3 b/alpha ->b-2 ~b-1
    sub a a/alpha",
    "unsat"
)]
#[case::r32_orphan_with_dependency(
    "
    csv a-1 of:a needs:b:1.0.0
    csv b-1@1.0.0 of:b
    b-2 b/default ->b-1
    sub b b/default is:b-1",
    ""
)]
fn rows(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(answer(text), wanted);
}

/// R14 to R17, R33 to R35: constraints of `bar.v1.0.0` on packages foo.
#[rstest]
#[case::r14_all(r#"{"all":{"constraints":[{"package":{"packageName":"foo","versionRange":">=1.0.0"}},{"gvk":{"group":"g1","version":"v1","kind":"k1"}},{"gvk":{"group":"g2","version":"v2","kind":"k2"}}]}}"#, "bar.v1.0.0 foo.v1.0.1")]
#[case::r15_any(r#"{"any":{"constraints":[{"gvk":{"group":"g1","version":"v1","kind":"k1"}},{"gvk":{"group":"g2","version":"v2","kind":"k2"}}]}}"#, "bar.v1.0.0 foo.v1.0.1")]
#[case::r16_not(r#"{"all":{"constraints":[{"gvk":{"group":"g0","version":"v0","kind":"k0"}},{"not":{"constraints":[{"gvk":{"group":"g1","version":"v1","kind":"k1"}},{"gvk":{"group":"g2","version":"v2","kind":"k2"}}]}}]}}"#, "bar.v1.0.0 foo.v0.99.0")]
#[case::r17_unknown(r#"{"failureMessage":"unknown","unknown":{"foo":"bar"}}"#, "error")]
#[case::r33_cel(r#"{"failureMessage":"needs-g1","cel":{"rule":"properties.exists(p,p.type=='olm.gvk'&&p.value=={'group':'g1','version':'v1','kind':'k1'})"}}"#, "bar.v1.0.0 foo.v1.0.1")]
#[case::r34_cel_unmet(r#"{"failureMessage":"needs-g9","cel":{"rule":"properties.exists(p,p.type=='olm.gvk'&&p.value=={'group':'g9','version':'v9','kind':'k9'})"}}"#, "unsat")]
#[case::r35_cel_package(r#"{"cel":{"rule":"properties.exists(p,p.type=='olm.package'&&p.value.packageName=='foo'&&(semver_compare(p.value.version,'0.99.0')==0))"}}"#, "bar.v1.0.0 foo.v0.99.0")]
fn constraints(#[case] constraint: &str, #[case] wanted: &str) {
    let text = format!(
        "
        bar.v1.0.0 bar/alpha {constraint}
        foo.v1.0.1@1.0.1 foo/alpha ->foo.v1.0.0 +1 +2 +3
        foo.v0.99.0@0.99.0 foo/alpha +0
        foo.v1.0.0@1.0.0 foo/alpha ->foo.v0.99.0 +2 +3
        sub bar bar/alpha"
    );
    assert_eq!(answer(&text), wanted);
}

/// R8, R18, R19: which catalog a dependency comes from.
#[rstest]
#[case::r8a_priority(
    "catalog olm/high 100\n p.v1@0.0.1 p/alpha\ncatalog olm/low 0\np.v1@0.0.1 p/alpha",
    "olm/high"
)]
#[case::r8b_name(
    "catalog olm/z 100\np.v1@0.0.1 p/alpha\ncatalog olm/b 100\np.v1@0.0.1 p/alpha",
    "olm/b"
)]
#[case::r8c_same_catalog(
    "catalog olm/community\np.v1@0.0.1 p/alpha\ncatalog olm/a\np.v1@0.0.1 p/alpha",
    "olm/community"
)]
#[case::r18_unmet_further_down(
    "catalog olm/community\np.v1@0.0.1 p/alpha needs:nowhere:1.0.0\ncatalog olm/z\np.v1@0.0.1 p/alpha",
    "olm/z"
)]
#[case::r19_own_namespace(
    "catalog other/a\np.v1@0.0.1 p/alpha\ncatalog olm/z\np.v1@0.0.1 p/alpha",
    "olm/z"
)]
fn catalogs(#[case] entries: &str, #[case] wanted: &str) {
    let lines: Vec<&str> = entries.lines().map(str::trim).collect();
    let text = format!("t.v1 t/alpha needs:p:0.0.1\nsub t t/alpha\n{}", lines.join("\n"));
    let resolution = support::Problem::read(&text).resolve(&Resolver::default()).unwrap();
    let dependency = resolution.chosen.iter().find(|chosen| &*chosen.entry.name == "p.v1").unwrap();
    assert_eq!(dependency.entry.catalog.to_string(), wanted);
}

/// R2: a cluster's own policy as a constraint source.
struct Whitelist(&'static [&'static str]);

impl ConstraintSource for Whitelist {
    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        _: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        if !bundle.is_installed() && !self.0.contains(&&*bundle.entry.package) {
            let text = format!("package: {} is not white listed", bundle.entry.package);
            problem.state(Rule::Prohibited(variable), Reason::Other(text));
        }
        Ok(())
    }
}

const WHITELIST: &str = "
    test-package.v1 test-package/alpha ?1
    another-package.v1 another-package/alpha +1
    packageC.v1 packageC/alpha +1
    packageD.v1 packageD/alpha
    sub t test-package/alpha";

#[rstest]
#[case::two(WHITELIST, &["test-package", "packageC"], "packageC.v1 test-package.v1")]
#[case::all(WHITELIST, &["test-package", "packageC", "another-package"], "another-package.v1 test-package.v1")]
#[case::none(WHITELIST, &["packageC"], "unsat")]
fn policies(#[case] text: &str, #[case] allowed: &'static [&'static str], #[case] wanted: &str) {
    let resolver = Resolver::default().with_source(Whitelist(allowed));
    let result = support::Problem::read(text).resolve(&resolver);
    if let Err(error) = &result {
        assert!(error.to_string().contains("test-package is not white listed"), "{error}");
    }
    assert_eq!(outcome(result), wanted);
}

/// A source that gives the reason of a Subscription for what it says of a bundle.
struct WrongReasonSource;

impl ConstraintSource for WrongReasonSource {
    fn of_bundle(
        &self,
        variable: VariableId,
        _: &Arc<Bundle>,
        _: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        let reason = Reason::NothingFound(Missing::Package);
        problem.state(Rule::Prohibited(variable), reason);
        Ok(())
    }
}

#[test]
fn a_reason_that_does_not_fit_its_rule_is_reported_raw() {
    let resolver = Resolver::default().with_source(WrongReasonSource);
    let refusal = support::Problem::read(WHITELIST).resolve(&resolver).unwrap_err().to_string();
    assert!(refusal.contains("NothingFound(Package) Prohibited("), "{refusal}");
}

/// Spec catalog-operator 9.2: upgrades past a failed CSV.
#[rstest]
#[case::disabled("", "csv a.v1 +1 phase:Replacing\ncsv a.v2 +1 ->a.v1 phase:Failed", "unsat")]
#[case::two("fail-forward", "csv a.v1 +1 phase:Replacing\ncsv a.v2 +1 ->a.v1 phase:Failed", "a.v3")]
#[case::other_provider(
    "fail-forward",
    "csv b.v1 +1 phase:Replacing\ncsv a.v2 +1 phase:Failed",
    "unsat"
)]
#[case::broken(
    "fail-forward",
    "csv a.v1 +1 phase:Failed\ncsv a.v2 +1 ->a.v1 phase:Failed",
    "error"
)]
fn fail_forward(#[case] mode: &str, #[case] csvs: &str, #[case] wanted: &str) {
    let text = format!(
        "{mode}\n{csvs}\na.v1 a/alpha +1\na.v2 a/alpha ->a.v1 +1\na.v3 a/alpha ->a.v2 +1\nsub a a/alpha is:a.v2"
    );
    assert_eq!(answer(&text), wanted);
}

#[test]
fn reasons_and_replacements_are_reported() {
    let text = "
        a.v2@2.0.0 a/alpha ->a.v1 ?1
        b.v1 b/alpha +1
        csv a.v1
        sub a a/alpha is:a.v1
        sub b b/alpha start:b.v1";
    let resolution = support::Problem::read(text).resolve(&Resolver::default()).unwrap();
    let lines: Vec<String> = resolution
        .chosen
        .iter()
        .map(|chosen| {
            let wanted: Vec<String> = chosen.wanted_by.iter().map(ToString::to_string).collect();
            let (replaces, start) = (chosen.replaces.as_deref(), chosen.starting_csv.as_deref());
            format!("{} {replaces:?} {start:?}: {}", chosen.entry.name, wanted.join("; "))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    a.v2 Some("a.v1") None: subscription a
    b.v1 None Some("b.v1"): subscription b; bundle a.v2 requires an operator providing an API with group: g1, version: v1, kind: k1
    "#);
}

#[test]
fn the_classic_kinds_cover_v0() {
    use olm_resolver::constraint::ConstraintKind;
    let kinds =
        ["olm.gvk.required", "olm.package.required", "olm.label.required", "olm.constraint"];
    assert_eq!(ClassicConstraints.property_types(), kinds);
}
