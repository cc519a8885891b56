//! `search`: packages of the catalogs that a namespace sees.

use anyhow::{Result, bail};
use jiff::Timestamp;
use olm_plan::search::{PackageRow, Query, search};
use olm_plan::settings::Settings;
use olm_types::api::{PackageManifest, Subscription};

use crate::Outcome;
use crate::args::{Searching, Sources};
use crate::catalogs::{Catalogs, Visible};
use crate::cluster::{Cluster, TimedOut, cause};
use crate::output::{Kind, Output, Table, age};
use crate::plan::read_state;

/// Packages, and Subscriptions to them, as far as they were read.
pub struct Listing {
    /// As the packages API presents them.
    pub packages: Vec<PackageManifest>,
    /// Of the namespace, or of all.
    pub subscriptions: Vec<Subscription>,
    /// What was not read, and why.
    pub unread: Vec<String>,
}

impl Listing {
    /// What a cluster offers in a namespace: the packages API, and catalogs that flags name; of one package
    /// where one is asked for.
    ///
    /// # Errors
    /// Neither can be read, or time runs out.
    pub async fn of_cluster(
        cluster: &Cluster,
        sources: &Sources,
        package: Option<&str>,
    ) -> Result<Self> {
        let settings = cluster.settings(sources.olm_namespace.as_deref()).await?;
        let home = cluster.namespace.as_str();
        let (visible, _) = Visible::read(cluster, home, &settings).await?;
        let named = Catalogs::of_flags(&visible, &sources.catalog).await?;
        let mut packages = named.packages(package).await?;
        let mut unread = Vec::new();
        match cluster.list(&cluster.api::<PackageManifest>(Some(home))).await {
            Ok(found) => packages.extend(found.into_iter().filter(|one| {
                let status = one.status.as_ref();
                let is_it = |name: &str| package.is_none_or(|package| package == name);
                status.is_some_and(|status| {
                    is_it(&status.package_name) && !named.has(&key_of(status))
                })
            })),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) if packages.is_empty() => {
                return Err(error.context(
                    "the packages API cannot be read; --catalog NAME=HOST:PORT names a catalog",
                ));
            }
            Err(error) => unread.push(format!("packages of other catalogs ({})", cause(&error))),
        }
        let everywhere = cluster.list(&cluster.api::<Subscription>(None)).await;
        let subscriptions = match everywhere {
            Ok(found) => found,
            Err(_) => cluster.list(&cluster.api(Some(home))).await.unwrap_or_default(),
        };
        Ok(Self { packages, subscriptions, unread })
    }

    /// What the catalogs that flags name offer.
    ///
    /// # Errors
    /// One of them cannot be read, or no flag names one.
    pub async fn of_flags(
        namespace: Option<&str>,
        sources: &Sources,
        package: Option<&str>,
    ) -> Result<Self> {
        let (visible, known) = visible_offline(namespace, sources)?;
        let named = Catalogs::of_flags(&visible, &sources.catalog).await?;
        let packages = named.packages(package).await?;
        let subscriptions = known.typed(Subscription::KIND);
        Ok(Self { packages, subscriptions, unread: Vec::new() })
    }
}

/// What files say about the catalogs around a namespace.
///
/// # Errors
/// No flag names a catalog, or a file cannot be read.
pub fn visible_offline(
    namespace: Option<&str>,
    sources: &Sources,
) -> Result<(Visible, olm_plan::preview::Known)> {
    if sources.catalog.is_empty() {
        bail!("--offline needs --catalog: there is nothing else to read");
    }
    let known = read_state(&sources.state)?;
    let mut settings = Settings::default();
    if let Some(global) = &sources.olm_namespace {
        settings.global_namespace.clone_from(global);
    }
    let home = namespace.unwrap_or("default");
    Ok((Visible::in_state(&known, home, &settings), known))
}

fn key_of(status: &olm_types::api::PackageManifestStatus) -> olm_types::bundle::CatalogKey {
    let (home, name) = (&status.catalog_source_namespace, &status.catalog_source);
    olm_types::bundle::CatalogKey::new(home, name)
}

/// Prints the packages that fit.
pub fn print(asked: &Searching, listing: &Listing, output: Output) -> Result<Outcome> {
    let query = Query {
        words: asked.words.clone(),
        provides: asked.provides.clone(),
        category: asked.category.clone(),
        catalog: asked.source.clone(),
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
