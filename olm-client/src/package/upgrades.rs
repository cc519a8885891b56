//! The upgrade graph of a package, with what is installed of it.

use anyhow::{Result, bail};
use olm_plan::graph::{Graph, InstalledVersion, graph};
use olm_plan::observed::name;
use olm_plan::preview::Known;
use olm_types::api::{ClusterServiceVersion, Subscription};
use olm_types::bundle::CatalogKey;
use olm_types::version::Version;

use crate::catalogs::{Access, Catalogs, Folders, Visible};
use crate::cluster::Cluster;
use crate::listing::visible_offline;
use crate::notices::Notices;
use crate::reading::Sources;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphRequest<'a> {
    /// The package.
    pub package: &'a str,
    /// Only this channel.
    pub channel: Option<&'a str>,
    /// The catalog, NAME or NAMESPACE/NAME.
    pub source: Option<&'a str>,
    /// As if this version, or CSV, were installed.
    pub version: Option<&'a str>,
}

/// A graph, and what it is without.
#[derive(Clone, Debug, Default)]
pub struct Upgrades {
    /// The graph.
    pub graph: Graph,
    /// What was not read, and why.
    pub unread: Vec<String>,
}

/// The graph of a package of a cluster, with what is installed in the namespace.
///
/// # Errors
/// No catalog has the package or the channel, several have the package, or time runs out.
pub async fn in_cluster(
    cluster: &Cluster,
    asked: GraphRequest<'_>,
    sources: &Sources,
) -> Result<Upgrades> {
    let settings = cluster.settings(sources.olm_namespace.as_deref()).await?;
    let home = cluster.namespace.as_str();
    let (visible, unread) = Visible::read(cluster, home, &settings).await?;
    let mut known = Known::default();
    // What may not be read is not marked; the graph is there all the same.
    let subscriptions: Vec<Subscription> =
        cluster.list(&cluster.api(Some(home))).await.unwrap_or_default();
    let csvs: Vec<ClusterServiceVersion> =
        cluster.list(&cluster.api(Some(home))).await.unwrap_or_default();
    let subscription = subscriptions.iter().find(|one| one.spec.name == asked.package);
    let visible = match source(asked, subscription) {
        Some(source) => {
            let key = visible.key_of_flag(&source);
            visible.only(&key)
        }
        None => visible,
    };
    let flags = &sources.catalog;
    let mut catalogs = Catalogs::of_cluster(Access::of(cluster), &visible, flags).await?;
    catalogs.unread.extend(unread);
    add(&mut known, &subscriptions, &csvs)?;
    read(asked, &catalogs, &known, home)
}

/// The graph of a package of catalogs that flags name.
///
/// # Errors
/// As [`in_cluster`].
pub async fn offline(
    namespace: Option<&str>,
    asked: GraphRequest<'_>,
    sources: &Sources,
    notices: &Notices,
) -> Result<Upgrades> {
    let (visible, known) = visible_offline(namespace, sources)?;
    let (flags, folders) = (&sources.catalog, Folders::default());
    let catalogs = Catalogs::of_flags(&visible, flags, &folders, notices).await?;
    read(asked, &catalogs, &known, namespace.unwrap_or("default"))
}

/// The catalog that is looked at: as the flag says, or as the Subscription does.
fn source(asked: GraphRequest<'_>, subscription: Option<&Subscription>) -> Option<String> {
    asked.source.map(str::to_owned).or_else(|| {
        let spec = &subscription?.spec;
        Some(format!("{}/{}", spec.source_namespace, spec.source))
    })
}

fn add(
    known: &mut Known,
    subscriptions: &[Subscription],
    csvs: &[ClusterServiceVersion],
) -> Result<()> {
    for one in subscriptions {
        let mut object = serde_json::to_value(one)?;
        object["kind"] = Subscription::KIND.into();
        object["apiVersion"] = Subscription::API_VERSION.into();
        known.add(object);
    }
    for one in csvs {
        let mut object = serde_json::to_value(one)?;
        object["kind"] = ClusterServiceVersion::KIND.into();
        object["apiVersion"] = ClusterServiceVersion::API_VERSION.into();
        known.add(object);
    }
    Ok(())
}

fn read(
    asked: GraphRequest<'_>,
    catalogs: &Catalogs,
    known: &Known,
    home: &str,
) -> Result<Upgrades> {
    let subscriptions: Vec<Subscription> = known.typed(Subscription::KIND);
    let subscription = subscriptions.iter().find(|one| {
        one.spec.name == asked.package && one.metadata.namespace.as_deref() == Some(home)
    });
    let wanted = source(asked, subscription);
    let key = the_only(catalogs, asked.package, wanted.as_deref())?;
    let snapshot = catalogs.set.snapshot(&key);
    let entries = snapshot.map(|one| one.package(asked.package)).unwrap_or_default();
    if let Some(channel) = asked.channel
        && !entries.iter().any(|entry| *entry.channel == *channel)
    {
        bail!("package {} has no channel {channel} in catalog {key}", asked.package);
    }
    let here = match asked.version {
        Some(version) => Some(as_if(version, entries, subscription)),
        None => {
            subscription.and_then(|one| installed(one, &known.typed(ClusterServiceVersion::KIND)))
        }
    };
    let drawn = graph(entries, asked.channel, here.as_ref());
    Ok(Upgrades { graph: drawn, unread: catalogs.unread.clone() })
}

/// The one catalog that has the package.
fn the_only(catalogs: &Catalogs, package: &str, wanted: Option<&str>) -> Result<CatalogKey> {
    let fits = |key: &CatalogKey| {
        wanted.is_none_or(|wanted| *key.name == *wanted || key.to_string() == wanted)
    };
    let members = catalogs.set.members().iter().filter(|member| fits(&member.key));
    let has = |key: &CatalogKey| {
        catalogs.set.snapshot(key).is_some_and(|one| !one.package(package).is_empty())
    };
    let found: Vec<CatalogKey> =
        members.map(|member| member.key.clone()).filter(|key| has(key)).collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let read: Vec<String> =
                catalogs.set.members().iter().map(|member| member.key.to_string()).collect();
            bail!(
                "no catalog that was read has the package {package} (read: {}){}",
                read.join(", "),
                catalogs.unknown()
            )
        }
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            bail!(
                "several catalogs have the package {package}: {}; --source names one",
                names.join(", ")
            )
        }
    }
}

/// What a Subscription has installed.
fn installed(
    subscription: &Subscription,
    csvs: &[ClusterServiceVersion],
) -> Option<InstalledVersion> {
    let csv = subscription.status.as_ref()?.installed_csv.clone()?;
    let home = &subscription.metadata.namespace;
    let object =
        csvs.iter().find(|one| name(&one.metadata) == csv && one.metadata.namespace == *home);
    let version = object.and_then(|one| one.spec.version.as_deref());
    let version = version.and_then(|text| Version::parse_tolerant(text).ok());
    Some(InstalledVersion { csv, version, channel: subscription.spec.channel.clone() })
}

/// A version as if it were installed.
fn as_if(
    version: &str,
    entries: &[std::sync::Arc<olm_types::bundle::Entry>],
    subscription: Option<&Subscription>,
) -> InstalledVersion {
    let is_it = |text: Option<String>| text.as_deref() == Some(version);
    let entry = entries.iter().find(|entry| {
        *entry.name == *version || is_it(entry.version.as_ref().map(ToString::to_string))
    });
    InstalledVersion {
        csv: entry.map_or_else(|| version.to_owned(), |entry| entry.name.to_string()),
        version: match entry {
            Some(entry) => entry.version.clone(),
            None => Version::parse_tolerant(version).ok(),
        },
        channel: subscription.and_then(|one| one.spec.channel.clone()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use olm_types::bundle::Entry;
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn what_is_installed_is_what_the_subscription_says() {
        let subscription: Subscription =
            from_value(json!({"metadata": {"name": "s", "namespace": "n"},
            "spec": {"name": "a", "channel": "stable", "source": "c", "sourceNamespace": "olm"},
            "status": {"installedCSV": "a.v1", "lastUpdated": null}}))
            .unwrap();
        let csv = |home: &str| {
            from_value(json!({"metadata": {"name": "a.v1", "namespace": home},
                "spec": {"version": "1.0.0", "install": {"strategy": "deployment"}}}))
            .unwrap()
        };
        let found = installed(&subscription, &[csv("m"), csv("n")]).unwrap();
        assert_eq!(found.version.map(|version| version.to_string()).as_deref(), Some("1.0.0"));
        assert_eq!(installed(&subscription, &[]).unwrap().version, None);
        let newer = Entry {
            version: "2.0.0".parse().ok(),
            ..Entry::new(CatalogKey::new("olm", "c"), "a", "stable", "a.v2")
        };
        let as_if = as_if("2.0.0", &[Arc::new(newer)], Some(&subscription));
        assert_eq!((&*as_if.csv, as_if.channel.as_deref()), ("a.v2", Some("stable")));
    }
}
