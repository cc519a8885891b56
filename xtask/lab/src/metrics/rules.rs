//! What `deploy/monitoring` asks Prometheus.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::document;
use super::expression::metrics;
use xtask::workspace;

/// A rule that fires.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Alert {
    /// Its name.
    pub alert: String,
    /// The query.
    pub expr: String,
}

/// The folder.
pub(super) fn folder() -> PathBuf {
    workspace::root().join("deploy/monitoring")
}

/// The object with the alerts, as Prometheus' operator takes it.
pub(super) fn object() -> Result<Value> {
    let path = folder().join("alerts.yaml");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    yaml_serde::from_str(&text).with_context(|| format!("{} is no YAML", path.display()))
}

/// Every alert.
pub(super) fn alerts() -> Result<Vec<Alert>> {
    let object = object()?;
    let groups = object.pointer("/spec/groups").and_then(Value::as_array);
    let rules = groups.context("there are no groups of alerts")?.iter();
    let rules = rules.flat_map(|group| group["rules"].as_array().into_iter().flatten());
    rules.map(|rule| serde_json::from_value(rule.clone()).context("a rule is no alert")).collect()
}

/// Fails when an alert or the dashboard reads something that the page does not list.
pub(super) fn check(page: &str) -> Result<()> {
    let known = document::families(page)?;
    let alerts = alerts()?.into_iter().map(|one| (one.alert, one.expr));
    let panels = dashboard()?.into_iter().map(|query| ("the dashboard".to_owned(), query));
    for (who, query) in alerts.chain(panels) {
        let read = families(&query, |name| known.contains_key(name));
        ensure!(!read.is_empty(), "{who} reads nothing: {query}");
        let unknown = read.into_iter().find(|name| !known.contains_key(name));
        if let Some(name) = unknown {
            bail!("{who} reads {name}, which is not measured: {query}");
        }
    }
    Ok(())
}

/// Every query of the dashboard.
fn dashboard() -> Result<Vec<String>> {
    let path = folder().join("dashboard.json");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let board: Value = serde_json::from_str(&text).context("the dashboard is no JSON")?;
    let mut queries = Vec::new();
    collect(&board, &mut queries);
    Ok(queries)
}

fn collect(value: &Value, queries: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let query = members.get("expr").and_then(Value::as_str);
            queries.extend(query.map(str::to_owned));
            members.values().for_each(|member| collect(member, queries));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| collect(entry, queries)),
        _ => {}
    }
}

/// Names of metrics in a query, without what histograms and summaries add to them.
fn families(query: &str, known: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let family = |name: String| {
        let parts = ["_bucket", "_sum", "_count"].into_iter();
        let mut stems = parts.filter_map(|part| name.strip_suffix(part));
        match stems.find(|stem| !known(&name) && known(stem)) {
            Some(stem) => stem.to_owned(),
            None => name,
        }
    };
    metrics(query).into_iter().map(family).collect()
}

#[cfg(test)]
mod tests {
    use olm_testkit::deploy::{self, Options};

    use super::super::page;
    use super::*;

    /// Names of v0's alerts (spec olm-operator 7.4).
    const V0: [&str; 3] =
        ["CsvAbnormalFailedOver2Min", "CsvAbnormalOver30Min", "InstallPlanStepAppliedWithWarnings"];

    #[test]
    fn alerts_and_dashboard_read_what_is_measured() {
        let committed = fs::read_to_string(page()).unwrap();
        check(&committed).unwrap();
        let without = committed.replace("| `workqueue_depth`", "| `other`");
        let error = check(&without).unwrap_err().to_string();
        let start = "the dashboard reads workqueue_depth, which is not measured: ";
        assert!(error.starts_with(start), "{error}");
        let without = committed.replace("| `csv_abnormal`", "| `other`");
        let error = check(&without).unwrap_err().to_string();
        assert!(error.starts_with("CsvAbnormalFailedOver2Min reads csv_abnormal"), "{error}");
    }

    #[test]
    fn names_are_unique_and_those_of_v0_are_there() {
        let names: Vec<String> = alerts().unwrap().into_iter().map(|one| one.alert).collect();
        let once: BTreeSet<&String> = names.iter().collect();
        assert_eq!(once.len(), names.len());
        V0.iter().for_each(|name| assert!(names.iter().any(|known| known == name), "{name}"));
    }

    #[test]
    fn monitors_find_the_services_of_base() {
        let text = fs::read_to_string(folder().join("service-monitors.yaml")).unwrap();
        let services = deploy::objects(&Options::default()).unwrap();
        let services: Vec<Value> =
            services.iter().map(|object| serde_json::to_value(object).unwrap()).collect();
        let monitors = yaml_serde::Deserializer::from_str(&text).map(Value::deserialize);
        let monitors: Vec<Value> = monitors.map(Result::unwrap).collect();
        assert_eq!(monitors.len(), 2);
        for monitor in monitors {
            let labels = &monitor["spec"]["selector"]["matchLabels"];
            let port = &monitor["spec"]["endpoints"][0]["port"];
            let found = services.iter().filter(|one| {
                let ports = one["spec"]["ports"].as_array();
                one["kind"] == "Service"
                    && one["metadata"]["labels"] == *labels
                    && ports.is_some_and(|ports| ports.iter().any(|one| one["name"] == *port))
            });
            assert_eq!(found.count(), 1, "{}", monitor["metadata"]["name"]);
        }
    }

    #[test]
    fn parts_of_histograms_belong_to_them() {
        let known = |name: &str| ["a", "b_count"].contains(&name);
        let found = families("a_bucket + a_sum + b_count + c_count", known);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b_count", "c_count"]);
    }
}
