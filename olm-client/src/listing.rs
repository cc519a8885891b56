//! Packages of the catalogs that a namespace sees, and what it has of them.

use anyhow::{Result, bail};
use olm_plan::preview::Known;
use olm_types::api::{CatalogSource, PackageManifest, Subscription};

use crate::catalogs::{Access, Catalogs, Folders, Visible};
use crate::cluster::{Cluster, TimedOut, cause};
use crate::examined::pages::MANY;
use crate::examined::slim;
use crate::notices::Notices;
use crate::package::key_of;
use crate::plan::read_state;
use crate::reading::Sources;

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
    /// where one is asked for. Where the packages API is away, the catalogs are asked themselves.
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
        let (visible, unread) = Visible::read(cluster, home, &settings).await?;
        let flags = &sources.catalog;
        let presented = presented(cluster, home, package.is_none()).await;
        let (own, presented) = match presented {
            Ok((found, unread)) => {
                let Cluster { folders, notices, .. } = cluster;
                let mut own = Catalogs::of_flags(&visible, flags, folders, notices).await?;
                own.unread.extend(unread);
                (own, found)
            }
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) => {
                if flags.is_empty() {
                    has_olm(cluster, home).await?;
                }
                let mut own = Catalogs::of_cluster(Access::of(cluster), &visible, flags).await?;
                own.unread.extend(unread);
                instead(&own, error, &cluster.notices)?;
                (own, Vec::new())
            }
        };
        let mut packages = own.packages(package).await?;
        packages.extend(presented.into_iter().filter(|one| {
            let is_it = |name: &str| package.is_none_or(|package| package == name);
            one.status
                .as_ref()
                .is_some_and(|status| is_it(&status.package_name) && !own.has(&key_of(status)))
        }));
        let unread = own.unread;
        let subscriptions = match subscriptions(cluster, None).await {
            Ok(found) => found,
            Err(_) => subscriptions_of(cluster, home).await,
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
        notices: &Notices,
    ) -> Result<Self> {
        let (visible, known) = visible_offline(namespace, sources)?;
        let (flags, folders) = (&sources.catalog, Folders::default());
        let named = Catalogs::of_flags(&visible, flags, &folders, notices).await?;
        let packages = named.packages(package).await?;
        let subscriptions = known.typed(Subscription::KIND);
        Ok(Self { packages, subscriptions, unread: Vec::new() })
    }
}

/// What the packages API presents, and what of it was not read: as it is listed, where all packages are looked at.
async fn presented(
    cluster: &Cluster,
    home: &str,
    all: bool,
) -> Result<(Vec<PackageManifest>, Vec<String>)> {
    let keep: fn(PackageManifest) -> PackageManifest =
        if all { slim::listed_package } else { |package| package };
    cluster.kept_at_once(&cluster.api(Some(home)), keep).await
}

async fn subscriptions(cluster: &Cluster, home: Option<&str>) -> Result<Vec<Subscription>> {
    let keep = |one, _| slim::listed_subscription(one);
    cluster.kept(&cluster.api(home), (MANY, None), keep).await
}

/// The Subscriptions of a namespace; where they may not be read, nothing is shown as installed, and a warning says why.
async fn subscriptions_of(cluster: &Cluster, home: &str) -> Vec<Subscription> {
    subscriptions(cluster, Some(home)).await.unwrap_or_else(|error| {
        let why = cause(&error);
        cluster.notices.say(&format!("warning: cannot read subscriptions: {why}"));
        Vec::new()
    })
}

/// Whether the cluster knows catalogs: where it does not, that is why nothing can be read.
///
/// # Errors
/// It does not.
async fn has_olm(cluster: &Cluster, home: &str) -> Result<()> {
    let found = cluster.list(&cluster.api::<CatalogSource>(Some(home))).await;
    let error = found.as_ref().err().and_then(|error| error.downcast_ref::<kube::Error>());
    match error {
        Some(kube::Error::Api(status)) if status.code == 404 => {
            bail!("the cluster has no CatalogSources: OLM is not installed")
        }
        _ => Ok(()),
    }
}

/// Says that catalogs are read in the place of the packages API.
///
/// # Errors
/// None of them was: the error of the packages API.
fn instead(own: &Catalogs, error: anyhow::Error, notices: &Notices) -> Result<()> {
    if own.set.members().iter().all(|member| member.content.is_err()) {
        let why = format!(
            "the packages API cannot be read, and no catalog; --catalog NAME=HOST:PORT names one{}",
            own.unknown()
        );
        return Err(error.context(why));
    }
    let why = cause(&error);
    notices.say(&format!(
        "warning: the packages API cannot be read ({why}): the catalogs themselves are asked"
    ));
    Ok(())
}

/// What files say about the catalogs around a namespace.
///
/// # Errors
/// No flag names a catalog, or a file cannot be read.
pub fn visible_offline(namespace: Option<&str>, sources: &Sources) -> Result<(Visible, Known)> {
    if sources.catalog.is_empty() {
        bail!("--offline needs --catalog: there is nothing else to read");
    }
    let known = read_state(&sources.state)?;
    let settings = sources.settings(&known);
    let home = namespace.unwrap_or("default");
    Ok((Visible::in_state(&known, home, &settings), known))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use anyhow::anyhow;
    use olm_plan::settings::Settings;
    use serde_json::json;

    use super::*;
    use crate::stub;

    /// Notices that are kept.
    fn kept() -> (Notices, Arc<Mutex<Vec<String>>>) {
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&said);
        (Notices::new(move |line| lines.lock().unwrap().push(line.to_owned())), said)
    }

    #[tokio::test]
    async fn a_package_that_cannot_be_read_is_named_and_leaves_the_others() {
        let cluster = stub::cluster(|_| {
            let tea = json!({"metadata": {"name": "tea"}, "spec": {}});
            let coffee = json!({"metadata": {"name": "coffee"}, "spec": {}, "status": 5});
            Some(json!({"kind": "PackageManifestList", "metadata": {}, "items": [coffee, tea],
                "apiVersion": "packages.operators.coreos.com/v1"}))
        });
        for all in [true, false] {
            let (found, unread) = presented(&cluster, "ns", all).await.unwrap();
            let names: Vec<_> = found.into_iter().filter_map(|one| one.metadata.name).collect();
            assert_eq!(names, ["tea"]);
            let [coffee] = &unread[..] else { panic!("{unread:?}") };
            assert!(coffee.starts_with("PackageManifest coffee ("), "{coffee}");
        }
    }

    #[tokio::test]
    async fn catalogs_stand_in_for_the_packages_api() {
        let folder = tempfile::tempdir().unwrap();
        let package = r#"{"schema": "olm.package", "name": "tea", "defaultChannel": "stable"}
            {"schema": "olm.channel", "name": "stable", "package": "tea", "entries": [{"name": "tea.v1"}]}
            {"schema": "olm.bundle", "name": "tea.v1", "package": "tea", "image": "tea:1", "properties": [
                {"type": "olm.package", "value": {"packageName": "tea", "version": "1.0.0"}}]}"#;
        std::fs::write(folder.path().join("catalog.json"), package).unwrap();
        let visible = Visible::in_state(&Known::default(), "ns", &Settings::default());
        let (notices, said) = kept();
        let flag = format!("olm/kitchen={}", folder.path().display());
        let folders = Folders::default();
        let read = Catalogs::of_flags(&visible, &[flag], &folders, &notices).await.unwrap();
        instead(&read, anyhow!("away"), &notices).unwrap();
        let expected =
            "warning: the packages API cannot be read (away): the catalogs themselves are asked";
        assert_eq!(*said.lock().unwrap(), [expected]);

        let nothing = Catalogs::of_flags(&visible, &[], &folders, &notices).await.unwrap();
        let error = format!("{:#}", instead(&nothing, anyhow!("away"), &notices).unwrap_err());
        assert!(error.starts_with("the packages API cannot be read, and no catalog"), "{error}");
        assert!(error.ends_with(": away"), "{error}");
    }
}
