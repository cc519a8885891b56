//! The text that a scrape gets.

use std::time::Duration;

use super::*;
use crate::queue::QueueFigures;

const READY: Family = Family::v0("catalogsource_ready", "Ready", &["namespace", "name"]);

/// The lines of some families.
fn text(metrics: &Metrics, families: &[&str]) -> String {
    let text = metrics.encode().unwrap();
    let wanted = |line: &&str| families.iter().any(|family| line.contains(family));
    text.lines().filter(wanted).collect::<Vec<_>>().join("\n")
}

#[test]
fn domain_metrics_keep_their_names() {
    let metrics = Metrics::new().unwrap();
    metrics.counter(Family::v0("csv_upgrade_count", "Upgrades", &[])).unwrap();
    metrics.gauge(READY).unwrap().with_label_values(&["olm", "community"]).set(1);
    let took = Family::v0("olm_resolution_duration_seconds", "Resolution time", &["outcome"]);
    metrics.summary(took).unwrap().observe(&["succeeded"], 0.5);
    insta::assert_snapshot!(text(&metrics, &["csv_", "catalogsource_", "olm_resolution"]), @r#"
    # HELP catalogsource_ready Ready
    # TYPE catalogsource_ready gauge
    catalogsource_ready{name="community",namespace="olm"} 1
    # HELP csv_upgrade_count Upgrades
    # TYPE csv_upgrade_count counter
    csv_upgrade_count 0
    # HELP olm_resolution_duration_seconds Resolution time
    # TYPE olm_resolution_duration_seconds summary
    olm_resolution_duration_seconds{outcome="succeeded",quantile="0.9"} 0.5
    olm_resolution_duration_seconds{outcome="succeeded",quantile="0.95"} 0.5
    olm_resolution_duration_seconds{outcome="succeeded",quantile="0.99"} 0.5
    olm_resolution_duration_seconds_sum{outcome="succeeded"} 0.5
    olm_resolution_duration_seconds_count{outcome="succeeded"} 1
    "#);
}

#[test]
fn own_metrics_are_labelled() {
    let metrics = Metrics::new().unwrap();
    let queue =
        QueueFigures { due: 2, failing: 1, adds: 9, longest_seconds: 0.5, ..<_>::default() };
    metrics.controllers().queue("csv", move || queue);
    metrics.controllers().observe("csv", Duration::from_millis(3), true);
    metrics.controllers().without_effect("csv", "Deployment");
    metrics.controllers().taken("csv", Duration::from_millis(20));
    let held = |objects| WatchFigures { objects, malformed: 1, synced: true };
    metrics.watches().watch("Pod", "app=a", move || held(5));
    metrics.watches().watch("Pod", "app=a", move || held(2));
    metrics.watches().rejected("Pod");
    metrics.interpreter().observe("Deployment", "create", "created");
    metrics.requests().observe("GET", "list", 200, Duration::from_millis(7));
    metrics.leader("operator", &Leadership::alone());
    let text = metrics.encode().unwrap();
    for line in [
        r#"olm_kit_reconciles_total{controller="csv",result="error"} 1"#,
        r#"olm_kit_reconciles_without_effect_total{controller="csv",trigger="Deployment"} 1"#,
        r#"workqueue_depth{name="csv"} 2"#,
        r#"workqueue_adds_total{name="csv"} 9"#,
        r#"workqueue_longest_running_processor_seconds{name="csv"} 0.5"#,
        r#"workqueue_work_duration_seconds_bucket{name="csv",le="0.005"} 1"#,
        r#"workqueue_queue_duration_seconds_bucket{name="csv",le="0.01"} 0"#,
        r#"olm_kit_queue_failing_keys{name="csv"} 1"#,
        r#"olm_kit_objects{kind="Pod",selector="app=a"} 7"#,
        r#"olm_kit_malformed_objects{kind="Pod",selector="app=a"} 2"#,
        r#"olm_kit_rejected_objects_total{kind="Pod"} 1"#,
        r#"olm_kit_watch_interruptions_total{kind="Pod"} 0"#,
        r#"olm_kit_effects_total{action="create",kind="Deployment",outcome="created"} 1"#,
        r#"olm_kit_request_duration_seconds_bucket{verb="list",le="0.01"} 1"#,
        r#"leader_election_master_status{name="operator"} 1"#,
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    assert!(text.contains("# TYPE workqueue_adds_total counter"), "{text}");
}

#[test]
fn the_process_reports_itself() {
    let text = Metrics::new().unwrap().encode().unwrap();
    assert!(text.contains("process_resident_memory_bytes "), "{text}");
    assert!(text.contains("# TYPE process_cpu_seconds_total counter"), "{text}");
    assert!(text.contains("olm_kit_build_info{version=\""), "{text}");
}

#[test]
fn a_name_is_registered_once() {
    let metrics = Metrics::new().unwrap();
    metrics.gauge(READY).unwrap();
    let error = metrics.counter(READY).unwrap_err();
    assert_eq!(error.to_string(), "cannot register metric catalogsource_ready");
    assert!(metrics.summary(Family::ours("no spaces", "help", &[])).is_err());
}

#[test]
fn every_family_in_a_scrape_is_described_with_its_type() {
    let metrics = Metrics::new().unwrap();
    metrics.gauge(READY).unwrap();
    metrics.histogram(Family::ours("took_seconds", "Took", &[])).unwrap();
    metrics.controllers().queue("csv", QueueFigures::default);
    let families = metrics.families();
    assert!(families.windows(2).all(|pair| pair[0].family.name < pair[1].family.name));
    let ready = families.iter().find(|one| one.family == READY).unwrap();
    let row = "| `catalogsource_ready` | gauge | `namespace`, `name` | Ready | v0 |";
    assert_eq!(ready.to_string(), row);
    let types = metrics.encode().unwrap();
    for line in types.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let found = families.iter().find(|one| one.family.name == name).expect(name);
        assert_eq!(found.kind.to_string(), kind, "{name}");
    }
}
