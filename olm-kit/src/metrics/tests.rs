//! The text that a scrape gets.

use std::time::Duration;

use super::*;

/// The text without the process's own figures, which differ from run to run.
fn text(metrics: &Metrics) -> String {
    let text = metrics.encode().unwrap();
    let lines = text.lines().filter(|line| !line.contains("process_"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn domain_metrics_keep_their_names() {
    let metrics = Metrics::new().unwrap();
    metrics
        .counter("csv_upgrade_count", "Upgrades", &[])
        .unwrap()
        .with_label_values::<&str>(&[])
        .inc();
    let ready = metrics.gauge("catalogsource_ready", "Ready", &["namespace", "name"]).unwrap();
    ready.with_label_values(&["olm", "community"]).set(1);
    let took = metrics
        .summary("olm_resolution_duration_seconds", "Resolution time", &["outcome"])
        .unwrap();
    took.observe(&["succeeded"], 0.5);
    insta::assert_snapshot!(text(&metrics), @r#"
    # HELP catalogsource_ready Ready
    # TYPE catalogsource_ready gauge
    catalogsource_ready{name="community",namespace="olm"} 1
    # HELP csv_upgrade_count Upgrades
    # TYPE csv_upgrade_count counter
    csv_upgrade_count 1
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
    metrics.controllers().observe("csv", Duration::from_millis(3), true, 2);
    metrics.watches().objects("Pod", 5, 1);
    metrics.watches().rejected("Pod");
    metrics.interpreter().observe("Deployment", "create", "created");
    let text = text(&metrics);
    for line in [
        r#"olm_kit_reconciles_total{controller="csv",result="error"} 1"#,
        r#"olm_kit_queue_depth{controller="csv"} 2"#,
        r#"olm_kit_reconcile_duration_seconds_bucket{controller="csv",le="0.005"} 1"#,
        r#"olm_kit_objects{kind="Pod"} 5"#,
        r#"olm_kit_malformed_objects{kind="Pod"} 1"#,
        r#"olm_kit_rejected_objects_total{kind="Pod"} 1"#,
        r#"olm_kit_effects_total{action="create",kind="Deployment",outcome="created"} 1"#,
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
}

#[test]
fn the_process_reports_itself() {
    let text = Metrics::new().unwrap().encode().unwrap();
    assert!(text.contains("process_resident_memory_bytes "), "{text}");
    assert!(text.contains("# TYPE process_cpu_seconds_total counter"), "{text}");
}

#[test]
fn a_name_is_registered_once() {
    let metrics = Metrics::new().unwrap();
    metrics.gauge("csv_count", "CSVs", &[]).unwrap();
    let error = metrics.counter("csv_count", "CSVs", &[]).unwrap_err();
    assert_eq!(error.to_string(), "cannot register metric csv_count");
    assert!(metrics.summary("no spaces", "help", &[]).is_err());
}
