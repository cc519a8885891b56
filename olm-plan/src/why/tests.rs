//! Small namespaces, and what keeps their operators where they are.

use olm_resolver::memory::MemoryUniverse;
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Property};
use rstest::rstest;
use serde_json::{from_value, json};

use super::*;
use crate::settings::Flavour;

/// Reads `CHANNEL VERSION[>VERSION]`, with properties.
fn entry(text: &str, properties: &[Property]) -> Entry {
    let (channel, rest) = text.split_once(' ').unwrap();
    let (version, replaces) = rest.split_once('>').unwrap_or((rest, ""));
    let package = format!(r#"{{"packageName":"a","version":"{version}.0.0"}}"#);
    let own = [Property::new("olm.package", &package)];
    Entry {
        name: format!("a.v{version}").into(),
        package: "a".into(),
        channel: channel.into(),
        catalog: CatalogKey::new("olm", "c"),
        version: format!("{version}.0.0").parse().ok(),
        replaces: (!replaces.is_empty()).then(|| format!("a.v{replaces}").into()),
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: channel == "stable",
        properties: own.iter().chain(properties).cloned().collect::<Vec<_>>().into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    }
}

/// The Subscription of the operator that needs the other one.
fn needing() -> Subscription {
    from_value(json!({"metadata": {"name": "t", "namespace": "ns"},
        "spec": {"name": "b", "channel": "stable", "source": "c", "sourceNamespace": "olm"},
        "status": {"installedCSV": "b.v1", "currentCSV": "b.v1", "lastUpdated": null}}))
    .unwrap()
}

fn subscription(annotations: serde_json::Value) -> Subscription {
    from_value(json!({"metadata": {"name": "s", "namespace": "ns", "annotations": annotations},
        "spec": {"name": "a", "channel": "stable", "source": "c", "sourceNamespace": "olm"},
        "status": {"installedCSV": "a.v1", "currentCSV": "a.v1", "lastUpdated": null,
            "conditions": [{"type": "UpgradeHeld", "status": "True", "reason": "Paused"}]}}))
    .unwrap()
}

fn csv(name: &str, properties: &str) -> ClusterServiceVersion {
    let annotations =
        json!({"operatorframework.io/properties": format!(r#"{{"properties":{properties}}}"#)});
    from_value(json!({"metadata": {"name": name, "namespace": "ns", "annotations": annotations},
        "spec": {"version": "1.0.0", "install": {"strategy": "deployment"}},
        "status": {"phase": "Succeeded"}}))
    .unwrap()
}

fn asked(universe: &MemoryUniverse, annotations: serde_json::Value) -> Why {
    asked_of(&Settings::default(), universe, annotations)
}

fn asked_of(settings: &Settings, universe: &MemoryUniverse, annotations: serde_json::Value) -> Why {
    let gvk = r#"{"type":"olm.gvk","value":{"group":"x.io","kind":"A","version":"v1"}}"#;
    let package = r#"{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}"#;
    let needs = r#"{"type":"olm.gvk.required","value":{"group":"x.io","kind":"A","version":"v1"}}"#;
    let csvs =
        [csv("a.v1", &format!("[{package},{gvk}]")), csv("b.v1", &format!("[{needs},{needs}]"))];
    let subscriptions = [subscription(annotations), needing()];
    let question = WhyInputs {
        namespace: "ns",
        operator: "a",
        subscriptions: &subscriptions,
        csvs: &csvs,
        groups: &[],
        universe,
        settings,
    };
    why(&question).unwrap()
}

#[rstest]
#[case::head(&["stable 1"], UpgradeState::AtHead, "", "")]
#[case::newer(&["stable 1", "stable 2>1"], UpgradeState::Upgrading, "a.v2", "")]
#[case::elsewhere(&["stable 1", "fast 2>1"], UpgradeState::AtHead, "", "fast: a.v2")]
#[case::cut(&["stable 1", "stable 3>2", "stable 2"], UpgradeState::Refused, "", "")]
#[case::gone(&["stable 3"], UpgradeState::DeadEnd, "", "")]
#[case::nothing(&[], UpgradeState::Unknown, "", "")]
fn what_keeps_an_operator_is_named(
    #[case] entries: &[&str],
    #[case] verdict: UpgradeState,
    #[case] next: &str,
    #[case] elsewhere: &str,
) {
    let gvk = [Property::new("olm.gvk", r#"{"group":"x.io","kind":"A","version":"v1"}"#)];
    let universe: MemoryUniverse = entries.iter().map(|text| entry(text, &gvk)).collect();
    let why = asked(&universe, json!({}));
    assert_eq!(why.verdict, verdict, "{why:#?}");
    assert_eq!(
        (why.next.join(" "), why.elsewhere.join(" ")),
        (next.to_owned(), elsewhere.to_owned())
    );
    let has_reasons =
        [UpgradeState::DeadEnd, UpgradeState::Refused, UpgradeState::Unknown].contains(&verdict);
    assert_eq!(why.reasons.is_empty(), !has_reasons, "{why:#?}");
}

/// What comes next shows, and who does not take it.
#[rstest]
#[case::paused("olm-rs.dev/pause", "true", "annotation olm-rs.dev/pause: true")]
#[case::unreadable("olm-rs.dev/version-range", "=>1", "version-range")]
fn what_is_held_says_so(#[case] key: &str, #[case] value: &str, #[case] reason: &str) {
    let gvk = [Property::new("olm.gvk", r#"{"group":"x.io","kind":"A","version":"v1"}"#)];
    let universe: MemoryUniverse =
        ["stable 1", "stable 2>1"].iter().map(|text| entry(text, &gvk)).collect();
    let why = asked(&universe, json!({ key: value }));
    assert_eq!((why.verdict, &*why.next.join(" ")), (UpgradeState::Held, "a.v2"), "{why:#?}");
    assert!(why.reasons.iter().any(|one| one.contains(reason)), "{why:#?}");
}

/// v0 takes what comes next.
#[test]
fn nothing_is_held_where_v0_reads_the_subscription() {
    let gvk = [Property::new("olm.gvk", r#"{"group":"x.io","kind":"A","version":"v1"}"#)];
    let universe: MemoryUniverse =
        ["stable 1", "stable 2>1"].iter().map(|text| entry(text, &gvk)).collect();
    let settings = Settings { flavour: Flavour::V0, ..Settings::default() };
    let why = asked_of(&settings, &universe, json!({"olm-rs.dev/pause": "true"}));
    assert_eq!((why.verdict, why.reasons), (UpgradeState::Upgrading, Vec::<String>::new()));
}

#[test]
fn what_blocks_is_explained_with_repairs_that_were_tried() {
    let gvk = Property::new("olm.gvk", r#"{"group":"x.io","kind":"A","version":"v1"}"#);
    let needed =
        Property::new("olm.package.required", r#"{"packageName":"z","versionRange":">1.0.0"}"#);
    let (old, new) =
        (entry("stable 1", std::slice::from_ref(&gvk)), entry("stable 2>1", &[gvk, needed]));
    let universe: MemoryUniverse = [old, new].into_iter().collect();
    let why = asked(&universe, json!({}));
    assert_eq!(why.verdict, UpgradeState::Blocked, "{why:#?}");
    assert_eq!(why.next, ["a.v2"]);
    assert!(why.reasons[0].contains('z'), "{why:#?}");
    assert_eq!(why.repairs, ["create a CatalogSource that provides package z in version >1.0.0"]);
    assert_eq!(why.says, ["UpgradeHeld: Paused"]);
}

/// The installed operator b requires what the newer version of a no longer provides.
#[test]
fn whoever_needs_the_old_version_may_move() {
    let gvk = Property::new("olm.gvk", r#"{"group":"x.io","kind":"A","version":"v1"}"#);
    let needs = Property::new("olm.gvk.required", r#"{"group":"x.io","kind":"A","version":"v1"}"#);
    let package = Property::new("olm.package", r#"{"packageName":"b","version":"1.0.0"}"#);
    let other = Entry {
        name: "b.v1".into(),
        package: "b".into(),
        properties: vec![package, needs].into(),
        ..entry("stable 1", &[])
    };
    let universe: MemoryUniverse =
        [entry("stable 1", &[gvk]), entry("stable 2>1", &[]), other].into_iter().collect();
    let why = asked(&universe, json!({}));
    assert_eq!((why.verdict, &*why.next.join(" ")), (UpgradeState::Blocked, "a.v2"), "{why:#?}");
    let expected = "move Subscription t with ClusterServiceVersion b.v1 to another namespace";
    assert!(why.repairs.iter().any(|one| one == expected), "{why:#?}");
}

#[test]
fn who_needs_it_is_read_from_what_is_installed() {
    let universe: MemoryUniverse = [entry("stable 1", &[])].into_iter().collect();
    let why = asked(
        &universe,
        json!({"olm.generated-by": "install-x", "olm-rs.dev/pause": "until monday"}),
    );
    let [needed] = why.needed_by.as_slice() else { panic!("{why:#?}") };
    assert_eq!((&*needed.csv, needed.also.len()), ("b.v1", 0));
    assert_eq!(why.generated_by.as_deref(), Some("install-x"));
    assert_eq!(why.reasons, ["annotation olm-rs.dev/pause: until monday"]);
    assert_eq!(why.needs, []);
}
