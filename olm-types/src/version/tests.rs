//! Versions and ranges against tables that the Go library made, and against a naive evaluation.

use std::collections::HashSet;

use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// Range text, then either the versions of [`SAMPLES`] in it or the library's error.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum ExpectedRange {
    Contains(Vec<String>),
    Error(String),
}

fn golden_ranges() -> Vec<(String, ExpectedRange)> {
    serde_json::from_str(include_str!("golden_ranges.json")).unwrap()
}

const SAMPLES: &str = "0.0.0 0.0.1 0.1.0 0.5.0 0.9.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta \
    1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0-next.1 1.0.0 1.0.0+build.1 1.0.1 1.0.2-rc.1 1.1.0 1.2.0 \
    1.2.3-beta.2 1.2.3 1.2.4 1.3.0 1.9.9 2.0.0-rc.1 2.0.0 2.0.1 2.1.0 3.0.0 4.8.0 4.9.0 10.0.0 \
    18446744073709551615.0.0";

#[test]
fn ranges_mean_what_they_mean_in_go() {
    for (text, verdict) in golden_ranges() {
        match (Range::parse(&text), verdict) {
            (Ok(range), ExpectedRange::Contains(expected)) => {
                let found: Vec<_> = SAMPLES
                    .split_whitespace()
                    .filter(|sample| range.contains(&Version::parse(sample).unwrap()))
                    .collect();
                assert_eq!(found, expected, "range {text:?}");
                assert_eq!(range.to_string(), text);
            }
            (Err(_), ExpectedRange::Error(_)) => {}
            (found, _) => panic!("range {text:?}: unexpected {found:?}"),
        }
    }
}

#[test]
fn range_errors_start_with_the_words_of_the_go_library() {
    let comparable =
        |text: &str, go: &str| text.is_ascii() && !text.contains('x') && !go.contains("strconv");
    let mut compared = 0;
    for (text, verdict) in golden_ranges() {
        if let (Err(error), ExpectedRange::Error(go)) = (Range::parse(&text), verdict)
            && comparable(&text, &go)
        {
            assert!(error.to_string().starts_with(&go), "{error} does not start with {go}");
            compared += 1;
        }
    }
    assert!(compared > 30);
}

#[test]
fn versions_are_read_as_go_reads_them() {
    let table: Vec<(String, Option<String>, Option<String>)> =
        serde_json::from_str(include_str!("golden_versions.json")).unwrap();
    for (text, strict, tolerant) in table {
        assert_eq!(Version::parse(&text).ok().map(|v| v.to_string()), strict, "strict {text:?}");
        assert_eq!(
            Version::parse_tolerant(&text).ok().map(|v| v.to_string()),
            tolerant,
            "tolerant {text:?}"
        );
    }
}

#[rstest]
#[case(">=1.0.0 || || <0.5.0")]
#[case(">=1.0.0 || 1 || <0.5.0")]
fn an_empty_alternative_is_an_error(#[case] text: &str) {
    assert_eq!(Range::parse(text), Err(RangeError::EmptyAlternative(text.to_owned())));
}

#[test]
fn messages_of_ranges() {
    let texts = [
        "^1.0.0",
        ">v1.2.3",
        ">=1.0",
        "",
        "|| 1.0.0",
        "*",
        ">=1.0.0 || || <0.5.0",
        ">=1.0.0||<2.0.0",
    ];
    let messages: Vec<_> = texts.map(|text| Range::parse(text).unwrap_err().to_string()).into();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    Could not parse Range "^1.0.0": Could not parse comparator "^" in "^1.0.0": use =, ==, !=, !, >, >=, <, <= or nothing, and a version without leading v
    Could not parse Range ">v1.2.3": Could not parse comparator ">v" in ">v1.2.3": use =, ==, !=, !, >, >=, <, <= or nothing, and a version without leading v
    Could not parse Range ">=1.0": Could not parse version "1.0" in ">=1.0": No Major.Minor.Patch elements found: a version is MAJOR.MINOR.PATCH, optionally with -PRERELEASE and +BUILD, for example 1.2.3 or 1.2.3-rc.1; spaces stand between comparisons and around '||'
    Last element in range is '||': write a comparison such as >=1.0.0, and one on both sides of each '||'
    First element in range is '||': write a comparison such as >=1.0.0 on both sides of '||'
    Last element in range is '||': write a comparison such as >=1.0.0, and one on both sides of each '||'
    Could not parse Range ">=1.0.0 || || <0.5.0": nothing stands between '||' and '||': write a comparison such as >=1.0.0 there
    Could not parse Range ">=1.0.0||<2.0.0": Could not parse version "1.0.0||<2.0.0" in ">=1.0.0||<2.0.0": Invalid character(s) found in patch number "0||<2.0.0": a version is MAJOR.MINOR.PATCH, optionally with -PRERELEASE and +BUILD, for example 1.2.3 or 1.2.3-rc.1; spaces stand between comparisons and around '||'
    "#);
}

#[test]
fn messages_of_versions() {
    let texts = ["", "1.2", "a.0.0", "1.02.3", "1.2.3-01", "1.2.3-", "1.2.3+", "1.2.3-é", "1..3"];
    let messages = texts.map(|text| Version::parse(text).unwrap_err().to_string());
    let remedy = ": a version is MAJOR.MINOR.PATCH, optionally with -PRERELEASE and +BUILD, for example 1.2.3 or 1.2.3-rc.1";
    let causes = messages.map(|message| message.strip_suffix(remedy).unwrap().to_owned());
    insta::assert_snapshot!(causes.join("\n"), @r#"
    Version string empty
    No Major.Minor.Patch elements found
    Invalid character(s) found in major number "a"
    Minor number must not contain leading zeroes "02"
    Numeric PreRelease version must not contain leading zeroes "01"
    Prerelease is empty
    Build meta data is empty
    Invalid character(s) found in prerelease "é"
    "" is not a number up to 18446744073709551615
    "#);
    let short = Version::parse_tolerant("1.2-rc").unwrap_err();
    assert_eq!(short, VersionError::ShortWithSuffix);
}

#[test]
fn order_is_by_precedence() {
    let ordered = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
    ];
    let versions = ordered.map(|text| Version::parse(text).unwrap());
    assert!(versions.is_sorted_by(|a, b| a < b));
}

#[test]
fn build_metadata_never_counts() {
    let (plain, built) = (Version::new(1, 0, 0), Version::parse("1.0.0+b.1").unwrap());
    assert_eq!(plain, built);
    assert_eq!(HashSet::from([plain, built.clone()]).len(), 1);
    assert_eq!(built.to_string(), "1.0.0+b.1");
    assert_eq!(
        (built.build(), built.pre(), built.major(), built.minor(), built.patch()),
        ("b.1", "", 1, 0, 0)
    );
}

fn version() -> impl Strategy<Value = String> {
    let suffix =
        prop_oneof![4 => Just(""), 1 => Just("-rc.1"), 1 => Just("-rc.2"), 1 => Just("+b")];
    (0..4_u8, 0..3_u8, 0..3_u8, suffix)
        .prop_map(|(major, minor, patch, suffix)| format!("{major}.{minor}.{patch}{suffix}"))
}

fn part() -> impl Strategy<Value = (&'static str, String)> {
    (prop::sample::select(vec!["", "=", "==", "!", "!=", ">", ">=", "<", "<="]), version())
}

fn naive(operator: &str, bound: &Version, version: &Version) -> bool {
    match operator {
        "" | "=" | "==" => version == bound,
        "!" | "!=" => version != bound,
        ">" => version > bound,
        ">=" => version >= bound,
        "<" => version < bound,
        _ => version <= bound,
    }
}

proptest! {
    #[test]
    fn contains_agrees_with_a_naive_evaluation(
        groups in prop::collection::vec(prop::collection::vec(part(), 1..4), 1..4),
        sample in version(),
    ) {
        let text = groups
            .iter()
            .map(|group| group.iter().map(|(operator, bound)| format!("{operator}{bound}")).collect::<Vec<_>>().join("  "))
            .collect::<Vec<_>>()
            .join(" || ");
        let sample = Version::parse(&sample).unwrap();
        let expected = groups
            .iter()
            .any(|group| group.iter().all(|(operator, bound)| naive(operator, &Version::parse(bound).unwrap(), &sample)));
        let range = Range::parse(&text).unwrap();
        prop_assert_eq!(range.contains(&sample), expected, "{} in {}", sample, text);
        prop_assert_eq!(range.alternatives().len(), groups.len());
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in prop_oneof![any::<String>(), "[0-9x.|<>=! +v-]{0,40}"]) {
        if let Ok(range) = Range::parse(&text) {
            range.contains(&Version::new(1, 2, 3));
        }
        let _ = Version::parse_tolerant(&text);
    }

    #[test]
    fn what_is_printed_reads_back(text in version()) {
        let version = Version::parse(&text).unwrap();
        prop_assert_eq!(version.to_string(), text.clone());
        prop_assert_eq!(Version::parse_tolerant(&format!(" v{text}")).unwrap(), version);
    }
}
