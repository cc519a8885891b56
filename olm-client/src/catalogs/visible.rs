//! Which catalogs a namespace sees: the rule is the operator's.

use std::sync::Arc;

use anyhow::Result;
use olm_lifecycle::subscription::resolution::Namespace;
use olm_plan::observed::{name, namespace};
use olm_plan::preview::{Known, PreviewRequest};
use olm_plan::settings::Settings;
use olm_types::api::{CatalogSource, OperatorGroup};
use olm_types::bundle::CatalogKey;

use crate::cluster::{Cluster, TimedOut, cause};

/// The CatalogSources around a namespace.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    home: String,
    global: String,
    sources: Vec<CatalogSource>,
    groups: Vec<Arc<OperatorGroup>>,
}

impl Visible {
    /// As the objects of a preview say.
    pub fn of(known: &Known, asked: &PreviewRequest) -> Self {
        Self::in_state(known, &asked.namespace, &asked.settings)
    }

    /// As objects say that were read.
    pub fn in_state(known: &Known, home: &str, settings: &Settings) -> Self {
        let groups: Vec<Arc<OperatorGroup>> = known.typed(OperatorGroup::KIND);
        let is_own = |group: &Arc<OperatorGroup>| namespace(&group.metadata) == home;
        Self {
            home: home.to_owned(),
            global: settings.global_namespace.clone(),
            sources: known.typed(CatalogSource::KIND),
            groups: groups.into_iter().filter(is_own).collect(),
        }
    }

    /// As a cluster says; what may not be read is named.
    ///
    /// # Errors
    /// Time runs out.
    pub async fn read(
        cluster: &Cluster,
        home: &str,
        settings: &Settings,
    ) -> Result<(Self, Vec<String>)> {
        let global = settings.global_namespace.clone();
        let mut visible = Self { home: home.to_owned(), global, ..Self::default() };
        let mut unread = Vec::new();
        let mut homes = vec![home.to_owned(), visible.global.clone()];
        homes.dedup();
        for place in homes {
            let found = cluster.list(&cluster.api::<CatalogSource>(Some(&place))).await;
            visible.sources.extend(kept(found, "catalogsources", &place, &mut unread)?);
        }
        let groups = cluster.list(&cluster.api::<OperatorGroup>(Some(home))).await;
        let groups = kept(groups, "operatorgroups", home, &mut unread)?;
        visible.groups = groups.into_iter().map(Arc::new).collect();
        Ok((visible, unread))
    }

    /// The same with one catalog only.
    #[must_use]
    pub fn only(mut self, key: &CatalogKey) -> Self {
        self.sources.retain(|source| key_of(source) == *key);
        self
    }

    /// The namespace.
    pub fn home(&self) -> &str {
        &self.home
    }

    /// The catalogs that it sees.
    pub fn sources(&self) -> impl Iterator<Item = (CatalogKey, &CatalogSource)> {
        let home = Namespace {
            name: self.home.clone(),
            groups: self.groups.clone(),
            ..Namespace::default()
        };
        let seen: Vec<String> =
            home.visible(&self.global).iter().map(|&name| name.to_owned()).collect();
        let seen = move |source: &&CatalogSource| {
            seen.iter().any(|home| home == namespace(&source.metadata))
        };
        self.sources.iter().filter(seen).map(|source| (key_of(source), source))
    }

    /// `spec.priority` of a catalog.
    pub fn priority(&self, key: &CatalogKey) -> i64 {
        let found = self.sources.iter().find(|source| key_of(source) == *key);
        found.and_then(|source| source.spec.priority).unwrap_or_default()
    }

    /// The catalog that a flag names: NAME or NAMESPACE/NAME.
    pub fn key_of_flag(&self, flag: &str) -> CatalogKey {
        match flag.split_once('/') {
            Some((namespace, name)) => CatalogKey::new(namespace, name),
            None => self.key(flag),
        }
    }

    /// The catalog of that name that is seen, or that would be a global one.
    pub fn key(&self, wanted: &str) -> CatalogKey {
        let mut named = self.sources.iter().filter(|source| name(&source.metadata) == wanted);
        let seen = named.find(|source| {
            [self.home.as_str(), &self.global].contains(&namespace(&source.metadata))
        });
        seen.map_or_else(|| CatalogKey::new(&self.global, wanted), key_of)
    }
}

fn key_of(source: &CatalogSource) -> CatalogKey {
    CatalogKey::new(namespace(&source.metadata), name(&source.metadata))
}

fn kept<K>(read: Result<Vec<K>>, what: &str, home: &str, all: &mut Vec<String>) -> Result<Vec<K>> {
    match read {
        Ok(found) => Ok(found),
        Err(error) if error.downcast_ref::<TimedOut>().is_some() => Err(error),
        Err(error) => {
            all.push(format!("{what} of namespace {home} ({})", cause(&error)));
            Ok(Vec::new())
        }
    }
}
