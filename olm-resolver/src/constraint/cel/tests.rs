//! Rules on one bundle: what they hold for, what is refused.

use std::sync::Arc;

use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use rstest::rstest;

use super::*;
use crate::problem::BundleId;

fn bundle(properties: &[(&str, &str)]) -> Bundle {
    let property =
        |(kind, value): &(&str, &str)| Property { kind: (*kind).into(), value: (*value).into() };
    let entry = Entry {
        name: "b.v1".into(),
        package: "b".into(),
        channel: "stable".into(),
        catalog: CatalogKey::new("olm", "cat"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: properties.iter().map(property).collect(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    };
    Bundle::new(BundleId(0), Arc::new(entry))
}

fn sample() -> Bundle {
    bundle(&[
        ("olm.package", r#"{"packageName":"b","version":"1.0.1"}"#),
        ("olm.gvk", r#"{"group":"g","version":"v","kind":"k"}"#),
        ("olm.test", r#""1.0.0""#),
        ("level", "3"),
        ("arch", r#"["amd64","arm64"]"#),
        ("broken", "{"),
    ])
}

#[rstest]
#[case(
    "properties.exists(p, p.type == 'olm.gvk' && p.value == {'group': 'g', 'version': 'v', 'kind': 'k'})",
    true
)]
#[case(
    "properties.exists(p, p.type == 'olm.gvk' && p.value == {'group': 'g2', 'version': 'v', 'kind': 'k'})",
    false
)]
#[case(
    "properties.exists(p, p.type == 'olm.package' && p.value.packageName == 'b' && (semver_compare(p.value.version, '1.0.1') == 0))",
    true
)]
#[case(
    "properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.0') == 0))",
    true
)]
#[case(
    "properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.1') == 0))",
    false
)]
#[case(
    "properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.0') < 0))",
    false
)]
#[case(
    "properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.0') > 0))",
    false
)]
#[case("properties.exists(p, semver_compare(p.value, 'v3') == 0)", true)]
#[case("properties.exists(p, p.value.packageName == 'b')", true)]
#[case("properties.exists(p, p.type == 'level' && p.value > 2)", true)]
#[case("properties.exists(p, p.type == 'level' && p.value == 3)", true)]
#[case("properties.exists(p, p.type == 'level' && p.value == '3')", false)]
#[case("properties.exists(p, p.type == 'arch' && 'arm64' in p.value)", true)]
#[case("properties.filter(p, has(p.type)).size() == 5", true)]
#[case("properties.exists_one(p, has(p.type) && p.type == 'level')", true)]
#[case("properties.exists_one(p, p.type == 'level')", false)]
#[case("properties.map(p, has(p.type), p.type)[0] == 'olm.package'", true)]
#[case("properties[99].type == 'x'", false)]
#[case("size(properties) > 2 ? true : false", true)]
#[case("type(properties) == list", true)]
#[case("properties.exists(p, p.type + '/' + p.type == 'level/level')", true)]
#[case("[1, 2].all(x, x > 0) && 'abc'.matches('^a.c$')", true)]
fn rules(#[case] rule: &str, #[case] holds: bool) {
    let requirement = CelRequirement::compile(rule.to_owned(), String::new()).unwrap();
    assert_eq!(requirement.holds(&sample(), &mut EvaluationBudget::default()).unwrap(), holds);
}

#[rstest]
#[case("1", "cel expressions must have type Bool: rule \"1\" has type int")]
#[case(
    "properties[0].value",
    "cel expressions must have type Bool: rule \"properties[0].value\" has type dyn"
)]
#[case("dyn(true)", "cel expressions must have type Bool: rule \"dyn(true)\" has type dyn")]
#[case("bundle.name == 'm'", "undeclared reference to 'bundle' (in container '')")]
#[case("nothing('a')", "undeclared reference to 'nothing' (in container '')")]
#[case("1 == 'a'", "found no matching overload for '_==_' applied to '(int, string)'")]
#[case("1 + 'a' == 2", "found no matching overload for '_+_' applied to '(int, string)'")]
#[case("properties.type == 'a'", "type 'list(map(string, dyn))' does not support field selection")]
#[case("'a'.all(x, true)", "expression of type 'string' cannot be range of a comprehension")]
#[case("properties.exists(p, ", "does not parse")]
#[case("", "does not parse")]
fn refusals(#[case] rule: &str, #[case] reason: &str) {
    let error = CelRequirement::compile(rule.to_owned(), String::new()).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[rstest]
#[case::sums(&format!("1{} > 0", "+1".repeat(20_000)))]
#[case::indexes(&format!("properties{} == 1", "[0]".repeat(20_000)))]
#[case::brackets(&format!("{}true{}", "(".repeat(20_000), ")".repeat(20_000)))]
#[case::not(&format!("{}true", "!".repeat(20_000)))]
#[case::members(&format!("properties[0]{} == 1", ".a".repeat(20_000)))]
fn long_rules_are_refused(#[case] rule: &str) {
    let error = CelRequirement::compile(rule.to_owned(), String::new()).unwrap_err();
    assert!(matches!(error, CelError::TooExpensive { .. }), "{error}");
}

#[rstest]
#[case::sums(&format!("1{} > 0", "+1".repeat(900)))]
#[case::indexes(&format!("properties{} == 1", "[0]".repeat(900)))]
#[case::members(&format!("properties[0]{} == 1", ".a".repeat(900)))]
#[case::brackets(&format!("{}true{}", "(".repeat(900), ")".repeat(900)))]
#[case::not(&format!("{}true", "!".repeat(900)))]
fn deep_rules_end(#[case] rule: &str) {
    if let Ok(requirement) = CelRequirement::compile(rule.to_owned(), String::new()) {
        requirement.holds(&sample(), &mut EvaluationBudget::default()).unwrap();
    }
}

#[test]
fn nested_macros_are_refused() {
    let list = "[0,1,2,3,4,5,6,7,8,9]";
    let rule =
        (0..9).fold("true".to_owned(), |inner, level| format!("{list}.all(x{level}, {inner})"));
    let requirement = CelRequirement::compile(rule, String::new()).unwrap();
    let error =
        requirement.holds(&sample(), &mut EvaluationBudget::default()).unwrap_err().to_string();
    assert!(error.contains("it may take more than 150000 steps"), "{error}");
}

#[rstest]
#[case::counts("'a'.matches('((a{1000}){1000}){1000}')")]
#[case::classes(r"properties.all(p, 'a'.matches('\\w{900}'))")]
#[case::unknown_patterns("[0,1,2,3,4,5,6,7,8,9].all(x, 'a'.matches(properties[0].type))")]
fn expensive_patterns_are_refused(#[case] rule: &str) {
    let requirement = CelRequirement::compile(rule.to_owned(), String::new()).unwrap();
    let error = requirement.holds(&sample(), &mut EvaluationBudget::default()).unwrap_err();
    assert!(error.to_string().contains("is too expensive"), "{error}");
}

/// What a property holds may be a pattern, or a text that a pattern takes long to find nothing in.
#[rstest]
#[case::classes_in_a_value("'a'.matches(properties[0].value)", "t", &r"\\pL".repeat(5_000))]
#[case::classes_in_a_type("'a'.matches(properties[0].type)", &r"\pL".repeat(5_000), "")]
#[case::classes_in_a_name("properties[0].value.exists(n, 'a'.matches(n))", "t", &r"\\pL".repeat(5_000))]
#[case::a_long_text("properties[0].value.matches('(a|b)*a(a|b){300}$')", "t", &"ab".repeat(500_000))]
fn patterns_and_texts_of_properties_are_bounded(
    #[case] rule: &str,
    #[case] kind: &str,
    #[case] text: &str,
) {
    let requirement = CelRequirement::compile(rule.to_owned(), String::new()).unwrap();
    for value in [format!("\"{text}\""), format!("{{\"{text}\":0}}")] {
        let bundle = bundle(&[(kind, &value)]);
        let error = requirement.holds(&bundle, &mut EvaluationBudget::default()).unwrap_err();
        assert!(error.to_string().contains("is too expensive"), "{error}");
    }
}

#[rstest]
#[case("properties.exists(p, p.type == 'd' && p.value.matches('^v1[.]'))")]
#[case("properties.exists(p, p.type == 'd' && p.value.matches('^v[0-9]+\\\\.[0-9]{1,3} '))")]
fn patterns_of_rules_meet_the_texts_that_bundles_have(#[case] rule: &str) {
    let text = format!("\"v1.2 {}\"", "x".repeat(100_000));
    let bundle = bundle(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", &text)]);
    let requirement = CelRequirement::compile(rule.to_owned(), String::new()).unwrap();
    assert!(requirement.holds(&bundle, &mut EvaluationBudget::default()).unwrap());
}

#[rstest]
#[case::texts(&format!("['abcdefgh']{}.size() > 0", ".map(x, x + x)".repeat(40)))]
#[case::lists(&format!("[properties]{}.size() > 0", ".map(x, x + x)".repeat(40)))]
fn values_that_grow_are_refused(#[case] rule: &str) {
    let requirement = CelRequirement::compile(rule.to_owned(), String::new()).unwrap();
    let error = requirement.holds(&sample(), &mut EvaluationBudget::default()).unwrap_err();
    assert!(error.to_string().contains("is too expensive"), "{error}");
}

#[test]
fn long_strings_are_read_once() {
    let long = format!("'{}'.size() > 10", "x".repeat(100_000));
    let requirement = CelRequirement::compile(long, String::new()).unwrap();
    assert!(requirement.holds(&sample(), &mut EvaluationBudget::default()).unwrap());
}

#[test]
fn text_is_that_of_v0() {
    let rule = "properties.exists(p, p.type == \"a\")".to_owned();
    let requirement = CelRequirement::compile(rule, "needs a".to_owned()).unwrap();
    insta::assert_snapshot!(requirement, @r#"with constraint: "properties.exists(p, p.type == \"a\")" and message: "needs a""#);
}

/// On other bundles they are not run, however long they would take.
#[rstest]
#[case("properties.exists(p, p.type == 'gone' && SLOW)", true)]
#[case("SLOW && properties.exists(p, 'gone' == p.type)", true)]
#[case("properties.exists_one(p, p.type == 'level' && p.value.name == 'gone' && SLOW)", true)]
#[case("properties.exists(p, p.type == 'gone' || p.value == 'gone2') && SLOW", true)]
#[case("properties.exists(p, p.type == 'arch' && 'gone' in p.value) && SLOW", true)]
#[case(
    "properties.exists(p, p.type == 'gone') || properties.exists(p, p.type == 'gone2' && SLOW)",
    true
)]
#[case("properties.exists(p, p.type == 'arch' && 'arm64' in p.value && SLOW)", false)]
#[case("properties.exists(p, p.type == 'gone') || SLOW", false)]
#[case("properties.all(p, p.type == 'gone' && SLOW)", false)]
#[case("!properties.exists(p, p.type == 'gone' && SLOW)", false)]
#[case("properties.exists(p, p.type != 'gone' && SLOW)", false)]
#[case("[properties[0]].exists(p, p.type == 'gone' && SLOW)", false)]
#[case("properties.exists(p, has(p.type) && SLOW)", false)]
fn rules_that_cannot_be_true_are_not_run(#[case] rule: &str, #[case] is_skipped: bool) {
    let list = "[0,1,2,3,4,5,6,7,8,9]";
    let slow =
        (0..9).fold("true".to_owned(), |inner, level| format!("{list}.all(x{level}, {inner})"));
    let rule = rule.replace("SLOW", &slow);
    let requirement = CelRequirement::compile(rule, String::new()).unwrap();
    let result = requirement.holds(&sample(), &mut EvaluationBudget::default());
    assert_eq!(result.is_ok(), is_skipped);
    assert!(!result.unwrap_or_default());
}

/// A text that is written with escapes is found, too.
#[test]
fn escapes_hide_nothing() {
    let bundle = bundle(&[("t", r#"{"name":"\u0061b\/c"}"#)]);
    let rule = "properties.exists(p, p.type == 't' && p.value.name == 'ab/c')".to_owned();
    assert!(
        CelRequirement::compile(rule, String::new())
            .unwrap()
            .holds(&bundle, &mut EvaluationBudget::default())
            .unwrap()
    );
}
