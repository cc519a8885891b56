//! Packages of the catalogs that a namespace sees, and what it has of them.

use anyhow::{Result, bail};
use olm_plan::preview::Known;
use olm_types::api::{PackageManifest, Subscription};

use crate::catalogs::{Catalogs, Visible};
use crate::cluster::{Cluster, TimedOut, cause};
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
        let flags = &sources.catalog;
        let named = Catalogs::of_flags(&visible, flags, &cluster.notices).await?;
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
        notices: &Notices,
    ) -> Result<Self> {
        let (visible, known) = visible_offline(namespace, sources)?;
        let named = Catalogs::of_flags(&visible, &sources.catalog, notices).await?;
        let packages = named.packages(package).await?;
        let subscriptions = known.typed(Subscription::KIND);
        Ok(Self { packages, subscriptions, unread: Vec::new() })
    }
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
