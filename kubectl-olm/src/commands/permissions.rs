//! `permissions`: what the accounts of an operator may do, and what another version may do more or less.

use anyhow::{Context, Result, bail};
use olm_client::catalogs::{Access, Catalogs, Visible};
use olm_client::clean::cell;
use olm_client::cluster::{Cluster, one_namespace};
use olm_client::contents::Contents;
use olm_client::package::read_csv;
use olm_plan::observed::{name, namespace};
use olm_plan::preview::permissions::{Right, Rights, held, reaches_of, right, rule};
use olm_plan::preview::{Content, Known};
use olm_types::api::{ClusterServiceVersion, Subscription};
use olm_types::bundle::Entry;
use serde::Serialize;

use crate::Outcome;
use crate::args::{Format, PermissionsArgs};
use crate::output::{Kind, Output, Table};

/// The answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Permissions {
    package: String,
    csv: String,
    rights: Vec<Right>,
    reaches: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_with: Option<Compared>,
}

/// The difference to another version.
#[derive(Debug, Serialize)]
struct Compared {
    csv: String,
    #[serde(flatten)]
    difference: Rights,
}

/// Prints the rights of what is installed, or of what would be.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &PermissionsArgs,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let subscriptions: Vec<Subscription> =
        cluster.list(&cluster.api(Some(home))).await.context("cannot read Subscriptions")?;
    let named = subscriptions.iter().find(|one| name(&one.metadata) == asked.operator);
    let subscription =
        named.or_else(|| subscriptions.iter().find(|one| one.spec.name == asked.operator));
    let package = subscription.map_or(asked.operator.clone(), |one| one.spec.name.clone());
    let installed = match subscription {
        Some(subscription) => installed(cluster, subscription).await?,
        None => None,
    };
    let (csv, other) = match (installed, &asked.to) {
        (Some(csv), None) => (csv, None),
        (Some(csv), Some(version)) => {
            let other =
                of_catalog(cluster, home, &package, subscription, Some(version), asked).await?;
            (csv, Some(other))
        }
        (None, version) => {
            let csv = of_catalog(cluster, home, &package, None, version.as_deref(), asked).await?;
            (csv, None)
        }
    };
    let found = Permissions {
        package,
        csv: name(&csv.metadata).to_owned(),
        rights: held(&csv),
        reaches: reaches_of(&csv),
        compared_with: other.map(|other| Compared {
            csv: name(&other.metadata).to_owned(),
            difference: Rights::between(std::slice::from_ref(&csv), &[other], false),
        }),
    };
    print(&found, output)?;
    Ok(Outcome::Fine)
}

async fn installed(
    cluster: &Cluster,
    subscription: &Subscription,
) -> Result<Option<ClusterServiceVersion>> {
    let status = subscription.status.as_ref();
    let Some(csv) = status.and_then(|status| status.installed_csv.clone()) else { return Ok(None) };
    let api = cluster.api(Some(namespace(&subscription.metadata)));
    let found = cluster.answer(api.get_opt(&csv)).await;
    found.with_context(|| format!("the installed CSV {csv} cannot be read"))
}

/// The CSV of a version, or of the head of the channel, from the catalogs.
async fn of_catalog(
    cluster: &Cluster,
    home: &str,
    package: &str,
    subscription: Option<&Subscription>,
    version: Option<&str>,
    asked: &PermissionsArgs,
) -> Result<ClusterServiceVersion> {
    let reading = &asked.reading;
    let settings = cluster.settings(reading.sources.olm_namespace.as_deref()).await?;
    let (visible, unread) = Visible::read(cluster, home, &settings).await?;
    let visible = match subscription {
        Some(one) => {
            let source = format!("{}/{}", one.spec.source_namespace, one.spec.source);
            let key = visible.key_of_flag(&source);
            visible.only(&key)
        }
        None => visible,
    };
    let flags = &reading.sources.catalog;
    let mut catalogs = Catalogs::of_cluster(Access::of(cluster), &visible, flags).await?;
    catalogs.unread.extend(unread);
    let entries = olm_types::bundle::Universe::by_package(&catalogs.set, package);
    let is_it = |entry: &Entry| match version {
        Some(version) => {
            let number = entry.version.as_ref().map(ToString::to_string);
            *entry.name == *version || number.as_deref() == Some(version)
        }
        None => entry.in_default_channel && is_head(&catalogs, entry),
    };
    let Some(entry) = entries.iter().find(|entry| is_it(entry)) else {
        let version = version.map(|version| format!(" in version {version}")).unwrap_or_default();
        bail!("no catalog that was read has {package}{version}{}", catalogs.unknown());
    };
    let contents = Contents::of(cluster, &catalogs, &reading.pulling, reading.bundles.clone());
    match contents.read(entry, &Known::default()).await {
        Content::Read(bundle) => read_csv(&bundle.csv_json),
        Content::Unknown(why) => bail!("the permissions of {} are unknown: {why}", entry.name),
    }
}

fn is_head(catalogs: &Catalogs, entry: &Entry) -> bool {
    let package = catalogs.set.snapshot(&entry.catalog);
    let package = package.and_then(|snapshot| snapshot.packages().get(&entry.package));
    let channel = package.and_then(|package| package.channels.get(&entry.channel));
    channel.is_some_and(|channel| channel.head == entry.name)
}

fn print(found: &Permissions, output: Output) -> Result<()> {
    match output.format() {
        Format::Table | Format::Wide => {
            let mut text = table(&found.rights).to_string();
            for reach in &found.reaches {
                text.push_str(&format!("! {}\n", cell(reach)));
            }
            if let Some(compared) = &found.compared_with {
                text.push_str(&difference(compared));
            }
            output.print(&text)
        }
        Format::Name => output.print(&format!("{}\n", found.csv)),
        _ => output.object(Kind::Permissions, found),
    }
}

/// A row for each rule, by the name of its account.
fn table(rights: &[Right]) -> Table {
    let mut table = Table::new(&["NAME", "SCOPE", "RULE", "ESCALATES"]);
    for right in rights {
        table.row(vec![
            right.account.clone(),
            right.scope.to_owned(),
            rule(&right.rule),
            right.escalations.join(","),
        ]);
    }
    table
}

fn difference(compared: &Compared) -> String {
    let Rights { gained, lost, reaches } = &compared.difference;
    let mut text = format!("\nCompared with {}:\n", cell(&compared.csv));
    if gained.is_empty() && lost.is_empty() && reaches.is_empty() {
        text.push_str("  no difference\n");
    }
    gained.iter().for_each(|one| text.push_str(&format!("+ {}\n", cell(&right(one)))));
    reaches.iter().for_each(|one| text.push_str(&format!("+ ! {}\n", cell(one))));
    lost.iter().for_each(|one| text.push_str(&format!("- {}\n", cell(&right(one)))));
    text
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::rbac::v1::PolicyRule;

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_rights() {
        let right = Right {
            account: "a".to_owned(),
            scope: "namespaces".to_owned(),
            rule: PolicyRule::default(),
            escalations: Vec::new(),
        };
        let difference = Rights { gained: vec![right.clone()], ..Rights::default() };
        let found = Permissions {
            package: "a".to_owned(),
            csv: "a.v1".to_owned(),
            rights: vec![right],
            reaches: vec!["webhook a".to_owned()],
            compared_with: Some(Compared { csv: "a.v2".to_owned(), difference }),
        };
        assert_described(Kind::Permissions, &found);
        assert_described(Kind::Permissions, &Permissions { compared_with: None, ..found });
        assert!(table(&[]).to_string().starts_with("NAME "));
    }
}
