//! `search`: packages of the catalogs that a namespace sees.

use anyhow::Result;
use jiff::Timestamp;
use olm_client::listing::Listing;
use olm_plan::search::{PackageRow, Query, search};

use crate::Outcome;
use crate::args::SearchArgs;
use crate::output::{Kind, Output, Table, age};

/// Prints the packages that fit.
pub fn print(asked: &SearchArgs, listing: &Listing, output: Output) -> Result<Outcome> {
    let query = Query {
        words: asked.words.clone(),
        provides: asked.provides.clone(),
        category: asked.category.clone(),
        catalog: asked.source.clone(),
        capability: asked.capability.clone(),
    };
    let rows = search(&listing.packages, &listing.subscriptions, &query);
    if rows.is_empty() {
        Output::complain("No packages found.");
    }
    let names = rows
        .iter()
        .map(|row| format!("packagemanifest.packages.operators.coreos.com/{}", row.name));
    output.list(Kind::PackageList, &rows, table(&rows, output.is_wide()), names)?;
    for unread in &listing.unread {
        Output::complain(&format!("unknown: {unread}"));
    }
    Ok(if listing.unread.is_empty() { Outcome::Fine } else { Outcome::Incomplete })
}

fn table(rows: &[PackageRow], is_wide: bool) -> Table {
    let mut headers = vec!["NAME", "DISPLAY", "CATALOG", "CHANNEL", "VERSION", "INSTALLED"];
    if is_wide {
        headers.extend(["PROVIDER", "CATEGORIES", "CAPABILITIES", "PROVIDES"]);
    }
    headers.extend(["DEPRECATED", "AGE"]);
    let mut table = Table::new(&headers);
    for row in rows {
        let mut cells = vec![
            row.name.clone(),
            row.display_name.clone(),
            row.catalog.clone(),
            row.channel.clone(),
            row.version.clone(),
            row.installed.join(","),
        ];
        if is_wide {
            cells.extend([row.provider.clone(), row.categories.join(",")]);
            cells.extend([row.capabilities.clone(), row.provides.join(",")]);
        }
        cells.push(row.deprecated.clone().unwrap_or_default());
        cells.push(age(row.created.as_deref(), Timestamp::now()));
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use olm_types::api::PackageManifest;
    use serde_json::{from_value, json};

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_packages() {
        let package = json!({"metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"},
            "spec": {}, "status": {"catalogSource": "c", "catalogSourceDisplayName": "",
                "catalogSourcePublisher": "", "catalogSourceNamespace": "olm", "packageName": "a",
                "defaultChannel": "s", "provider": {"name": "x"}, "channels": [{"name": "s",
                    "currentCSV": "a.v1", "currentCSVDesc": {"version": "1.0.0"}, "entries": [],
                    "deprecation": {"message": "old"}}]}});
        let packages: Vec<PackageManifest> = vec![from_value(package).unwrap()];
        let rows = search(&packages, &[], &Query::default());
        assert!(rows[0].created.is_some() && rows[0].deprecated.is_some(), "{rows:?}");
        assert_described(Kind::PackageList, &json!({"items": rows}));
        let table = table(&rows, false).to_string();
        let header = table.lines().next().unwrap_or_default();
        assert!(header.starts_with("NAME ") && header.ends_with(" AGE"), "{header}");
    }
}
