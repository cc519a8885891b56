//! Which places rules lead to.

use rstest::rstest;
use serde_json::json;

use super::*;

const DIGEST: &str = "sha256:54d626e08c1c802b305dad30b7e54a82f102390cc92c7d4db112048935236e9c";

const CONFIG: &str = r#"
unqualified-search-registries = ["docker.io"]

[[registry]]
prefix = "quay.io/team"
location = "quay.io/renamed"
[[registry.mirror]]
location = "mirror.example:5000/quay"
insecure = true
[[registry.mirror]]
location = "second.example"
pull-from-mirror = "digest-only"

[[registry]]
location = "quay.io"
[[registry.mirror]]
location = "all.example"

[[registry]]
prefix = "*.internal.example"
[[registry.mirror]]
location = "cache.example"

[[registry]]
location = "blocked.example"
blocked = true

[[registry]]
location = "once.example"
blocked = true
mirror-by-digest-only = true
[[registry.mirror]]
location = "instead.example/once"
[[registry.mirror]]
location = "blocked.example/once"
"#;

fn places(mirrors: &Mirrors, image: &str) -> Vec<String> {
    let places = mirrors.endpoints(&image.parse().unwrap()).unwrap();
    let shown = places.into_iter().map(|place| match place.without_tls {
        true => format!("{} without TLS", place.image),
        false => place.image.to_string(),
    });
    shown.collect()
}

#[rstest]
#[case::no_rule("gcr.io/a/b:1", &["gcr.io/a/b:1"])]
#[case::longest_prefix("quay.io/team/a:1", &["mirror.example:5000/quay/a:1 without TLS", "quay.io/renamed/a:1"])]
#[case::whole_names("quay.io/teams/a:1", &["all.example/teams/a:1", "quay.io/teams/a:1"])]
#[case::prefix_is_a_repository("quay.io/team:1", &["mirror.example:5000/quay:1 without TLS", "quay.io/renamed:1"])]
#[case::below_a_domain("a.internal.example/b:1", &["cache.example/b:1", "a.internal.example/b:1"])]
#[case::not_the_domain("internal.example/b:1", &["internal.example/b:1"])]
#[case::blocked("blocked.example/a:1", &[])]
#[case::mirrors_by_digest_only("once.example/a:1", &[])]
fn by_tag(#[case] image: &str, #[case] expected: &[&str]) {
    assert_eq!(places(&Mirrors::parse(CONFIG).unwrap(), image), expected);
}

#[test]
fn by_digest() {
    let mirrors = Mirrors::parse(CONFIG).unwrap();
    let of = |name: &str| places(&mirrors, &format!("{name}@{DIGEST}"));
    let expected = [
        format!("mirror.example:5000/quay/a@{DIGEST} without TLS"),
        format!("second.example/a@{DIGEST}"),
        format!("quay.io/renamed/a@{DIGEST}"),
    ];
    assert_eq!(of("quay.io/team/a"), expected);
    // A mirror may be blocked by a rule of its own.
    assert_eq!(of("once.example/a"), [format!("instead.example/once/a@{DIGEST}")]);
}

#[rstest]
#[case("[[registry]]\nblocked = true", "number 1 has neither prefix nor location")]
#[case("[registries.search]\nregistries = []", "[registries.search] is no longer supported")]
#[case("[[registry]", "it is no registries.conf of version 2: ")]
#[case("[[registry]]\nlocation = 1", "it is no registries.conf of version 2: ")]
fn what_is_no_configuration(#[case] text: &str, #[case] expected: &str) {
    let error = Mirrors::parse(text).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

/// A tag is resolved at a mirror for tags, and what it stood for is pulled from there.
#[test]
fn sets_of_openshift() {
    let digests = json!({"imageDigestMirrors": [
        {"source": "quay.io/a", "mirrors": ["one.example/a"]},
        {"source": "quay.io/a", "mirrors": ["two.example/a"], "mirrorSourcePolicy": "NeverContactSource"},
        {"mirrors": ["nowhere.example"]},
    ]});
    let tags = json!({"imageTagMirrors": [
        {"source": "quay.io/b", "mirrors": ["tags.example/b"], "mirrorSourcePolicy": "AllowContactingSource"},
    ]});
    let digests = Mirrors::of_set(MirrorSet::Digests, &digests);
    let mirrors = digests.with(Mirrors::of_set(MirrorSet::Tags, &tags));
    let pinned = format!("quay.io/a@{DIGEST}");
    let expected = [format!("one.example/a@{DIGEST}"), format!("two.example/a@{DIGEST}")];
    assert_eq!(places(&mirrors, &pinned), expected);
    assert_eq!(places(&mirrors, "quay.io/a:v1"), [""; 0]);
    assert_eq!(places(&mirrors, "quay.io/b:v1"), ["tags.example/b:v1", "quay.io/b:v1"]);
    assert_eq!(places(&mirrors, &format!("quay.io/b@{DIGEST}")), [format!("quay.io/b@{DIGEST}")]);
    let resolved = "quay.io/b:v1".parse::<ImageReference>().unwrap().at(DIGEST);
    let resolved = mirrors.endpoints(&resolved).unwrap();
    assert_eq!(resolved[0].image.to_string(), format!("tags.example/b@{DIGEST}"));
    assert_eq!(Mirrors::of_set(MirrorSet::Tags, &json!("x")), Mirrors::default());
}

#[test]
fn sources_of_rules_are_joined() {
    let file = Mirrors::parse(
        "[[registry]]\nlocation = \"quay.io\"\n[[registry.mirror]]\nlocation = \"file.example\"",
    );
    let set = json!({"imageTagMirrors": [{"source": "quay.io", "mirrors": ["set.example"]}]});
    let mirrors = file.unwrap().with(Mirrors::of_set(MirrorSet::Tags, &set));
    let expected = ["file.example/a:1", "set.example/a:1", "quay.io/a:1"];
    assert_eq!(places(&mirrors, "quay.io/a:1"), expected);
}
