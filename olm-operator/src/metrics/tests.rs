//! What a scrape shows, golden (spec olm-operator 7.4).

use std::sync::Arc;

use olm_kit::metrics::Metrics;
use olm_kit::watch::Change;
use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};

use super::CsvMetrics;

fn mk_csv(name: &str, version: Option<&str>, status: Value) -> Arc<ClusterServiceVersion> {
    let csv = json!({
        "metadata": {"namespace": "ns", "name": name},
        "spec": {"version": version},
        "status": status,
    });
    Arc::new(serde_json::from_value(csv).unwrap())
}

fn in_phase(phase: &str, reason: &str) -> Arc<ClusterServiceVersion> {
    mk_csv("a", Some("1.0.0"), json!({"phase": phase, "reason": reason}))
}

/// The families of CSVs, as a scrape shows them.
fn scrape(metrics: &Metrics) -> String {
    let text = metrics.encode().unwrap();
    let ours = text.lines().filter(|line| line.contains("csv_"));
    ours.map(|line| format!("{line}\n")).collect()
}

const GOLDEN: &str = "\
# HELP csv_abnormal 1 while a CSV is not succeeded
# TYPE csv_abnormal gauge
csv_abnormal{name=\"a\",namespace=\"ns\",phase=\"Failed\",reason=\"UnsupportedOperatorGroup\",version=\"1.0.0\"} 1
# HELP csv_count CSVs that are not copies
# TYPE csv_count gauge
csv_count 2
# HELP csv_succeeded 1 while a CSV is succeeded, else 0
# TYPE csv_succeeded gauge
csv_succeeded{name=\"a\",namespace=\"ns\",version=\"1.0.0\"} 0
csv_succeeded{name=\"b\",namespace=\"ns\",version=\"0.0.0\"} 1
# HELP csv_upgrade_count CSVs that began to be replaced
# TYPE csv_upgrade_count counter
csv_upgrade_count 1
";

#[test]
fn a_scrape_shows_the_names_and_labels_of_v0() {
    let metrics = Metrics::new().unwrap();
    let csvs = CsvMetrics::register(&metrics).unwrap();
    let running = mk_csv("b", None, json!({"phase": "Succeeded", "reason": "InstallSucceeded"}));
    csvs.follow(
        &Change { old: None, new: Some(in_phase("Failed", "UnsupportedOperatorGroup")) },
        1,
    );
    csvs.follow(&Change { old: None, new: Some(running) }, 2);
    csvs.upgraded();
    assert_eq!(scrape(&metrics), GOLDEN);
}

#[test]
fn a_csv_has_one_series_for_its_present_state_and_none_when_it_is_gone() {
    let metrics = Metrics::new().unwrap();
    let csvs = CsvMetrics::register(&metrics).unwrap();
    let (pending, done) = (in_phase("Pending", "X"), in_phase("Succeeded", "InstallSucceeded"));
    csvs.follow(&Change { old: None, new: Some(pending.clone()) }, 1);
    let text = scrape(&metrics);
    assert!(text.contains("csv_succeeded{name=\"a\",namespace=\"ns\",version=\"1.0.0\"} 0"));
    assert!(text.contains("phase=\"Pending\",reason=\"X\",version=\"1.0.0\"} 1"));
    csvs.follow(&Change { old: Some(pending), new: Some(done.clone()) }, 1);
    let text = scrape(&metrics);
    assert!(text.contains("csv_succeeded{name=\"a\",namespace=\"ns\",version=\"1.0.0\"} 1"));
    assert!(!text.contains("csv_abnormal{"));
    csvs.follow(&Change { old: Some(done), new: None }, 0);
    let text = scrape(&metrics);
    assert!(!text.contains("csv_succeeded{") && text.contains("csv_count 0"), "{text}");
}

#[test]
fn a_csv_that_was_not_reconciled_has_no_series() {
    let metrics = Metrics::new().unwrap();
    let csvs = CsvMetrics::register(&metrics).unwrap();
    csvs.follow(&Change { old: None, new: Some(mk_csv("a", None, Value::Null)) }, 1);
    let text = scrape(&metrics);
    assert!(!text.contains('{') && text.contains("csv_count 1"), "{text}");
}

#[test]
fn the_date_of_certificates_goes_with_them() {
    let metrics = Metrics::new().unwrap();
    let csvs = CsvMetrics::register(&metrics).unwrap();
    let status = json!({"phase": "Succeeded", "certsRotateAt": "1970-01-02T00:00:00Z"});
    let (with, without) = (mk_csv("a", None, status), in_phase("Succeeded", "InstallSucceeded"));
    let line = "olm_csv_certificate_rotation_timestamp_seconds{name=\"a\",namespace=\"ns\"} 86400";
    csvs.follow(&Change { old: None, new: Some(with.clone()) }, 1);
    assert!(scrape(&metrics).contains(line));
    csvs.follow(&Change { old: Some(with), new: Some(without) }, 1);
    assert!(!scrape(&metrics).contains("rotation_timestamp_seconds{"));
}

#[test]
fn the_documentation_lists_every_family() {
    let page = std::fs::read_to_string("../docs/metrics.md").unwrap();
    let metrics = Metrics::new().unwrap();
    CsvMetrics::register(&metrics).unwrap();
    for family in metrics.families() {
        let row = format!("{family}\n");
        assert!(page.contains(&row), "stale, run `cargo xtask metrics`: {row}");
    }
}
