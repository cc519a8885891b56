//! `list`: what is installed.

use anyhow::Result;
use jiff::Timestamp;
use olm_client::Cluster;
use olm_plan::installed::{Installed, installed};

use super::observe;
use crate::Outcome;
use crate::output::{Kind, Output, Table, age};

/// Prints a row for each Subscription.
pub async fn run(cluster: &Cluster, home: Option<&str>, output: Output) -> Result<Outcome> {
    let rows = installed(&observe(cluster, home, false).await?);
    if rows.is_empty() {
        let place =
            home.map_or_else(|| "any namespace".to_owned(), |home| format!("namespace {home}"));
        Output::complain(&format!("No Subscriptions found in {place}."));
    }
    let names = rows.iter().map(|row| format!("subscription.operators.coreos.com/{}", row.name));
    output.list(
        Kind::InstalledList,
        &rows,
        table(&rows, home.is_none(), output.is_wide()),
        names,
    )?;
    Ok(Outcome::Fine)
}

/// NAME first and AGE last; the namespace is a column of `-A`.
fn table(rows: &[Installed], with_namespace: bool, is_wide: bool) -> Table {
    let mut headers = vec!["NAME"];
    if with_namespace {
        headers.push("NAMESPACE");
    }
    headers.extend(["PACKAGE", "VERSION", "NEWEST", "CHANNEL", "APPROVAL", "HEALTH"]);
    if is_wide {
        headers.extend(["REASON", "READY", "PIN"]);
        headers.extend(["NEXT", "HEAD", "CSV", "CATALOG", "DEPENDENCY OF"]);
    }
    headers.push("AGE");
    let mut table = Table::new(&headers);
    for row in rows {
        table.row(cells(row, with_namespace, is_wide));
    }
    table
}

fn cells(row: &Installed, with_namespace: bool, is_wide: bool) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut cells = vec![row.name.clone()];
    if with_namespace {
        cells.push(row.namespace.clone());
    }
    cells.extend([row.package.clone(), text(&row.version), text(&row.newest), text(&row.channel)]);
    cells.extend([row.approval.to_owned(), row.health.as_str().to_owned()]);
    if is_wide {
        let ready = row.ready.as_ref().map(|ready| ready.status.clone());
        cells.extend([row.reason.clone(), text(&ready), row.declared().join(",")]);
        cells.extend([text(&row.next), text(&row.channel_head)]);
        cells.push(text(&row.csv));
        cells.extend([row.catalog.clone(), row.dependency_of.join(",")]);
    }
    cells.push(age(row.created.as_deref(), Timestamp::now()));
    cells
}

#[cfg(test)]
mod tests {
    use olm_plan::Observed;
    use serde_json::{from_value, json};

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_what_is_installed() {
        let subscription = json!({"metadata": {"name": "s", "namespace": "ns",
                "creationTimestamp": "2026-01-02T03:04:05Z"},
            "spec": {"name": "a", "source": "c", "sourceNamespace": "olm"},
            "status": {"installedCSV": "a.v1", "currentCSV": "a.v1",
                "conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded"}]}});
        let subscriptions = vec![from_value(subscription).unwrap()];
        let rows = installed(&Observed { subscriptions, ..Observed::default() });
        assert_eq!(rows.len(), 1);
        assert_described(Kind::InstalledList, &json!({"items": rows}));
    }
}
