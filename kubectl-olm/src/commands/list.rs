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

/// NAME first and AGE last; the namespace is a column of `-A`, and whose dependency an operator is where one is.
fn table(rows: &[Installed], with_namespace: bool, is_wide: bool) -> Table {
    let with_needs = is_wide || rows.iter().any(|row| !row.dependency_of.is_empty());
    let mut headers = vec!["NAME"];
    if with_namespace {
        headers.push("NAMESPACE");
    }
    headers.extend(["PACKAGE", "VERSION", "NEWEST", "CHANNEL", "APPROVAL", "HEALTH"]);
    if is_wide {
        headers.extend(["REASON", "READY", "PIN"]);
        headers.extend(["NEXT", "HEAD", "CSV", "CATALOG"]);
    }
    if with_needs {
        headers.push("DEPENDENCY OF");
    }
    headers.push("AGE");
    let mut table = Table::new(&headers);
    for row in rows {
        let mut cells = cells(row, with_namespace, is_wide);
        cells.extend(with_needs.then(|| row.dependency_of.join(",")));
        cells.push(age(row.created.as_deref(), Timestamp::now()));
        table.row(cells);
    }
    table
}

/// The cells of a row, without the last ones.
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
        cells.extend([text(&row.csv), row.catalog.clone()]);
    }
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

    #[test]
    fn a_dependency_says_whose_it_is() {
        let subscription = json!({"metadata": {"name": "s", "namespace": "ns"},
            "spec": {"name": "a", "source": "c", "sourceNamespace": "olm"}});
        let subscriptions = vec![from_value(subscription).unwrap()];
        let mut rows = installed(&Observed { subscriptions, ..Observed::default() });
        let header = |rows: &[Installed], is_wide: bool| {
            let printed = table(rows, false, is_wide).to_string();
            printed.lines().next().unwrap_or_default().to_owned()
        };
        assert!(!header(&rows, false).contains("DEPENDENCY OF"));
        let end = "   DEPENDENCY OF   AGE";
        assert!(header(&rows, true).ends_with(end), "{}", header(&rows, true));
        rows[0].dependency_of = vec!["b.v1".to_owned(), "c.v1".to_owned()];
        let printed = table(&rows, false, false).to_string();
        assert!(header(&rows, false).ends_with(end) && printed.contains("b.v1,c.v1"), "{printed}");
        assert!(table(&rows, false, true).to_string().contains("b.v1,c.v1"));
    }
}
