//! Tables of spec catalog-operator 3.3 and 9.4.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::bundle::Property;
use crate::gvk::Gvk;
use crate::version::Range;

fn property(kind: &str, value: &str) -> Property {
    Property::new(kind, value)
}

fn gvk() -> Gvk {
    Gvk::new("g", "v1", "K")
}

fn range(text: &str) -> Range {
    Range::parse(text).unwrap()
}

fn plain(predicate: Predicate) -> Constraint {
    Constraint { failure_message: String::new(), predicate }
}

#[rstest]
#[case::none(&[], "{}")]
#[case::mixed(
    &[property("string", "\"hello\""), property("number", "5"), property("array", "[1,\"two\",3,\"four\"]"),
      property("object", "{\"z\": {\"worl\":\"d\"}, \"a\": null}"), property("olm.maxOpenShiftVersion", "4.8")],
    r#"{"properties":[{"type":"string","value":"hello"},{"type":"number","value":5},{"type":"array","value":[1,"two",3,"four"]},{"type":"object","value":{"z":{"worl":"d"},"a":null}},{"type":"olm.maxOpenShiftVersion","value":4.8}]}"#
)]
#[case::html(&[property("<t>", "\">=1 <2\"")], r#"{"properties":[{"type":"\u003ct\u003e","value":"\u003e=1 \u003c2"}]}"#)]
fn annotations_are_printed(#[case] properties: &[Property], #[case] text: &str) {
    assert_eq!(annotation::print(properties).unwrap(), text);
}

#[test]
fn an_invalid_value_is_not_printed() {
    insta::assert_snapshot!(
        annotation::print(&[property("broken", "]")]).unwrap_err(),
        @r#"value of property "broken" is not JSON: expected value at line 1 column 1"#
    );
}

#[rstest]
#[case("{}", &[])]
#[case(r#"{"properties":[]}"#, &[])]
#[case(r#"{"properties":null,"other":1}"#, &[])]
#[case(r#"{"properties":[{"type":"a","value": { "y" : 1, "x": ">" } },{"value":null}]}"#, &[property("a", r#"{"y":1,"x":">"}"#), property("", "null")])]
fn annotations_are_read(#[case] text: &str, #[case] properties: &[Property]) {
    assert_eq!(annotation::parse(text).unwrap(), properties);
}

#[rstest]
#[case("")]
#[case("]")]
#[case(r#"{"properties":5}"#)]
#[case(r#"{"properties":[42]}"#)]
fn malformed_annotations_are_refused(#[case] text: &str) {
    assert!(annotation::parse(text).is_err());
}

#[test]
fn typed_values() {
    let package = property("olm.package", r#"{"packageName":"p","version":"1.0.0","extra":1}"#);
    let value = value::package(&package).unwrap();
    assert_eq!(
        (value.package_name.as_str(), value.version.as_str(), value.release),
        ("p", "1.0.0", None)
    );
    assert_eq!(value::package(&property("olm.gvk", &package.value)), None);
    assert_eq!(value::package(&property("olm.package", "5")), None);
    assert_eq!(
        value::gvk(&property("olm.gvk", r#"{"group":"g","kind":"K","version":"v1"}"#)),
        Some(gvk())
    );
    assert_eq!(value::label(&property("olm.label", r#"{"label":"l"}"#)), Some("l".to_owned()));
}

#[rstest]
#[case::gvk(
    "olm.gvk.required",
    r#"{"group":"g","kind":"K","version":"v1"}"#,
    Some(Requirement::Gvk(gvk()))
)]
#[case::package(
    "olm.package.required",
    r#"{"packageName":"p","versionRange":">=1.0.0"}"#,
    Some(Requirement::Package { name: "p".to_owned(), range: range(">=1.0.0") })
)]
#[case::label("olm.label.required", r#"{"label":"l"}"#, Some(Requirement::Label("l".to_owned())))]
#[case::constraint(
    "olm.constraint",
    r#"{"gvk":{"kind":"K","group":"g","version":"v1"}}"#,
    Some(Requirement::Constraint(plain(Predicate::Gvk(gvk()))))
)]
#[case::provided("olm.gvk", r#"{"group":"g","kind":"K","version":"v1"}"#, None)]
#[case::unknown("example.com/any", "]", None)]
fn requirements(#[case] kind: &str, #[case] value: &str, #[case] requirement: Option<Requirement>) {
    assert_eq!(Requirement::of(&property(kind, value)).unwrap(), requirement);
}

#[rstest]
#[case("olm.gvk.required", "5")]
#[case("olm.package.required", r#"{"packageName":"p","versionRange":"^1.0.0"}"#)]
#[case("olm.package.required", r#"{"packageName":"p"}"#)]
#[case("olm.package.required", r#"{"packageName":1,"versionRange":">=1.0.0"}"#)]
#[case("olm.label.required", "]")]
#[case("olm.constraint", "{}")]
fn malformed_requirements_are_errors(#[case] kind: &str, #[case] value: &str) {
    assert!(Requirement::of(&property(kind, value)).is_err());
}

#[test]
fn constraint_trees() {
    let text = r#"{"failureMessage":"m","all":{"constraints":[
        {"package":{"packageName":"p","versionRange":">=1.0.0"}},
        {"any":{"constraints":[{"cel":{"rule":"true"},"failureMessage":"c"}]}},
        {"not":{"constraints":[{"gvk":{"group":"g","version":"v1","kind":"K"}}]}},
        {"any":{}},
        {"gvk":null,"all":{"constraints":null}}]}}"#;
    let cel = Constraint {
        failure_message: "c".to_owned(),
        predicate: Predicate::Cel { rule: "true".to_owned() },
    };
    let parts = vec![
        plain(Predicate::Package { name: "p".to_owned(), range: range(">=1.0.0") }),
        plain(Predicate::Any(vec![cel])),
        plain(Predicate::Not(vec![plain(Predicate::Gvk(gvk()))])),
        plain(Predicate::Any(vec![])),
        plain(Predicate::All(vec![])),
    ];
    let tree = Constraint { failure_message: "m".to_owned(), predicate: Predicate::All(parts) };
    assert_eq!(Constraint::parse(text).unwrap(), tree);
}

#[test]
fn the_first_of_several_demands_counts() {
    let text = r#"{"cel":{"rule":"r"},"package":{"packageName":"p","versionRange":"bad"},"gvk":{"group":"g","version":"v1","kind":"K"}}"#;
    assert_eq!(Constraint::parse(text).unwrap(), plain(Predicate::Gvk(gvk())));
}

#[rstest]
#[case(r#"{"arbitrary":1}"#, r#"parse olm.constraint: json: unknown field "arbitrary""#)]
#[case(
    r#"{"all":{"constraints":[{"gvk":{"some":1}}]}}"#,
    r#"parse olm.constraint: json: unknown field "some""#
)]
#[case("{}", "convert olm.constraint to resolver predicate: constraint is empty")]
#[case(
    r#"{"failureMessage":"m","gvk":null}"#,
    "convert olm.constraint to resolver predicate: constraint is empty"
)]
#[case(
    r#"{"any":{"constraints":[{}]}}"#,
    "convert olm.constraint to resolver predicate: constraint is empty"
)]
#[case(r#"{"cel":5}"#, "parse olm.constraint: cel must be an object, not a number")]
#[case(r#"{"cel":{"rule":[]}}"#, "parse olm.constraint: rule must be a string, not a list")]
#[case("5", "parse olm.constraint: constraint must be an object, not a number")]
#[case("{", "parse olm.constraint: EOF while parsing an object at line 1 column 1")]
fn constraint_errors(#[case] text: &str, #[case] message: &str) {
    assert_eq!(Constraint::parse(text).unwrap_err().to_string(), message);
}

#[test]
fn constraints_are_bounded_in_size() {
    let value = |length: usize| format!(r#"{{"cel":{{"rule":"{}"}}}}"#, "x".repeat(length));
    let frame = value(0).len();
    assert!(Constraint::parse(&value(MAX_CONSTRAINT_BYTES - frame)).is_ok());
    assert_eq!(
        Constraint::parse(&value(MAX_CONSTRAINT_BYTES - frame + 1)).unwrap_err().to_string(),
        "parse olm.constraint: olm.constraint value is greater than max constraint size 131072 bytes"
    );
}

#[rstest]
#[case(31, true)]
#[case(33, false)]
#[case(5_000, false)]
fn constraints_are_bounded_in_depth(#[case] levels: usize, #[case] accepted: bool) {
    let leaf = r#"{"cel":{"rule":"\"[[["}}"#;
    let text =
        format!("{}{leaf}{}", r#"{"all":{"constraints":["#.repeat(levels), "]}}".repeat(levels));
    match Constraint::parse(&text) {
        Ok(_) => assert!(accepted),
        Err(error) => {
            assert!(!accepted, "{error}");
            assert!(matches!(error, ConstraintError::TooDeep), "{error}");
        }
    }
}

proptest! {
    #[test]
    fn annotations_round_trip(values in prop::collection::vec((".{0,10}", any::<i64>(), ".{0,10}"), 0..5)) {
        let properties: Vec<_> = values
            .iter()
            .map(|(kind, number, text)| property(kind, &serde_json::json!([number, text]).to_string()))
            .collect();
        let read = annotation::parse(&annotation::print(&properties).unwrap()).unwrap();
        let decoded = |list: &[Property]| -> Vec<(String, serde_json::Value)> {
            list.iter().map(|p| (p.kind.to_string(), serde_json::from_str(&p.value).unwrap())).collect()
        };
        prop_assert_eq!(decoded(&read), decoded(&properties));
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in prop_oneof![any::<String>(), "[\\[\\]{}\":,a-z0-9]{0,60}"]) {
        let _ = Constraint::parse(&text);
        let _ = annotation::parse(&text);
    }
}
