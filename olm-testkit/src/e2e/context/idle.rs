//! Nothing is written where nothing changed.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::TryStreamExt;
use jiff::Timestamp;
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, ListParams, ObjectList, Patch, PatchParams, WatchEvent, WatchParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription,
};
use olm_types::conditions::subscription::CATALOG_SOURCES_UNHEALTHY;
use olm_types::labels::{COPIED_FROM, component, is_label_key};
use olm_types::reasons::subscription as reasons;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::TestContext;
use crate::audit::AuditLog;
use crate::dump::{Dump, Key, diff};
use crate::operators::{OLM_NAMESPACE, Operator};
use crate::wait::{self, TIMEOUT};

/// Reasons that say what changed, and give way to the state at the next look.
const PASSING: [&str; 3] = [
    reasons::CATALOG_SOURCES_ADDED,
    reasons::CATALOG_SOURCES_UPDATED,
    reasons::CATALOG_SOURCES_DELETED,
];

/// An idle operator answers a change within milliseconds; so long without a write is the end.
pub(super) const QUIET: Duration = Duration::from_secs(2);

/// The label that is changed so that an object is looked at once more.
const TOUCHED: &str = "touched";

/// How often others may disturb a scenario before that is a failure.
const DISTURBED: usize = 15;

impl TestContext {
    /// Waits for the last write of the operators in the namespace. Then every object that they
    /// reconcile is touched, so that the whole scenario is decided once more, and they must find
    /// nothing to write. Where there is no audit log, this is not known, and not waited for.
    ///
    /// A global catalog that comes, goes or changes meanwhile concerns every Subscription: then all
    /// is done again.
    pub async fn until_idle(&self) -> Result<()> {
        let Some(log) = &self.facts().audit_log else { return Ok(()) };
        for _ in 0..DISTURBED {
            let before = self.list_global_catalogs().await?.metadata.resource_version;
            let rest = self.rest(log).await;
            if rest.is_ok() || !self.global_catalogs_changed(before).await? {
                rest?;
                return self.plans_are_as_shown().await;
            }
        }
        bail!("global catalogs changed {DISTURBED} times while the scenario came to rest")
    }

    /// Whether there was an event of a global catalog since then. One that came and went leaves no
    /// other trace.
    async fn global_catalogs_changed(&self, since: Option<String>) -> Result<bool> {
        let all: Api<CatalogSource> = Api::namespaced(self.client.clone(), OLM_NAMESPACE);
        // The API server sends past events at once, and ends the watch after a second without any.
        let parameters = WatchParams::default().disable_bookmarks().timeout(1);
        let events = all.watch(&parameters, &since.unwrap_or_default()).await;
        let first = pin!(events.context("cannot watch global catalogs")?).try_next().await;
        match first.context("cannot read the events of global catalogs")? {
            // So much was written since then that the API server has forgotten it: that is a change.
            Some(WatchEvent::Error(error)) if error.code == 410 => Ok(true),
            Some(WatchEvent::Error(error)) => bail!("cannot watch global catalogs: {error:?}"),
            event => Ok(event.is_some()),
        }
    }

    async fn list_global_catalogs(&self) -> Result<ObjectList<CatalogSource>> {
        let all: Api<CatalogSource> = Api::namespaced(self.client.clone(), OLM_NAMESPACE);
        all.list(&ListParams::default()).await.context("cannot list global catalogs")
    }

    async fn rest(&self, log: &Path) -> Result<()> {
        self.subscriptions_are_up_to_date().await?;
        let mut audit = AuditLog::from_now(log.to_owned())?.of_namespace(&self.namespace);
        audit.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await?;
        self.conclude_plans().await?;
        let before = self.reconciled().await?;
        self.touch::<CatalogSource>().await?;
        self.touch::<OperatorGroup>().await?;
        self.touch::<Subscription>().await?;
        self.touch::<InstallPlan>().await?;
        self.touch::<ClusterServiceVersion>().await?;
        let Err(writes) = audit.nothing_for(&Operator::NAMES, QUIET).await else { return Ok(()) };
        let changes = diff(&before, &self.reconciled().await?);
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        let changes = changes.join("\n");
        bail!("the scenario is over and the operators go on writing:\n{changes}\n{writes}")
    }

    /// Waits until each Subscription names the global catalogs that there are, says no longer that they
    /// changed, and has the label of its Operator. On a busy machine that may take longer than [`QUIET`].
    async fn subscriptions_are_up_to_date(&self) -> Result<()> {
        loop {
            let catalogs = self.list_global_catalogs().await?;
            let version = catalogs.metadata.resource_version.clone();
            let catalogs: BTreeSet<_> = catalogs.iter().map(ResourceExt::uid).collect();
            // One that another scenario takes away meanwhile is named by no Subscription any more.
            tokio::select! {
                known = self.subscriptions_know(&catalogs) => return known,
                changed = self.global_catalogs_change(version) => changed?,
            }
        }
    }

    /// Waits for an event of a global catalog.
    async fn global_catalogs_change(&self, since: Option<String>) -> Result<()> {
        while !self.global_catalogs_changed(since.clone()).await? {}
        Ok(())
    }

    async fn subscriptions_know(&self, catalogs: &BTreeSet<Option<String>>) -> Result<()> {
        let subscriptions: Api<Subscription> = self.api();
        let names = subscriptions.list(&ListParams::default()).await;
        for name in names.context("cannot list Subscriptions")?.iter().map(ResourceExt::name_any) {
            let knows = |subscription: &Subscription| knows(subscription, catalogs);
            wait::until(&subscriptions, &name, "know all global catalogs", knows).await?;
            wait::until(&subscriptions, &name, "have its label", is_labelled).await?;
        }
        Ok(())
    }

    /// The objects that the operators reconcile, as they are but for what a touch changes.
    async fn reconciled(&self) -> Result<Dump> {
        let mut dump = Dump::new();
        self.add::<CatalogSource>(&mut dump).await?;
        self.add::<OperatorGroup>(&mut dump).await?;
        self.add::<Subscription>(&mut dump).await?;
        self.add::<InstallPlan>(&mut dump).await?;
        self.add::<ClusterServiceVersion>(&mut dump).await?;
        Ok(dump)
    }

    async fn add<K>(&self, dump: &mut Dump) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned + Serialize,
    {
        let list = self.api::<K>().list(&ListParams::default()).await;
        for mut object in list.context("cannot list what is reconciled")? {
            object.managed_fields_mut().clear();
            object.labels_mut().remove(TOUCHED);
            object.meta_mut().resource_version = None;
            let object = serde_json::to_value(&object)?;
            dump.insert(Key::of(&object), object);
        }
        Ok(())
    }

    /// Changes the objects of a kind in a way that means nothing; to a copy of a CSV it would mean
    /// that it is out of step.
    async fn touch<K>(&self) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = self.api();
        let again = Timestamp::now().as_nanosecond().to_string();
        let touch = Patch::Merge(json!({"metadata": {"labels": {TOUCHED: again}}}));
        let originals = ListParams::default().labels(&format!("!{COPIED_FROM}"));
        let list = api.list(&originals).await.context("cannot list what to touch")?;
        for object in list {
            let touched = api.patch(&object.name_any(), &PatchParams::default(), &touch).await;
            touched.with_context(|| format!("cannot touch {}", object.name_any()))?;
        }
        Ok(())
    }
}

/// Whether a Subscription has the label that olm-operator puts on it once its status stands still.
fn is_labelled(subscription: &Subscription) -> bool {
    let namespace = subscription.namespace().unwrap_or_default();
    let key = component(&format!("{}.{namespace}", subscription.spec.name));
    let is_going = subscription.metadata.deletion_timestamp.is_some();
    let gets_none = is_going || subscription.spec.name.is_empty();
    key.map_or(true, |key| {
        gets_none || !is_label_key(&key) || subscription.labels().contains_key(&key)
    })
}

fn knows(subscription: &Subscription, catalogs: &BTreeSet<Option<String>>) -> bool {
    let Some(status) = &subscription.status else { return false };
    let recorded = status.catalog_health.iter().map(|entry| &entry.catalog_source_ref);
    let global = recorded.filter(|one| one.namespace.as_deref() == Some(OLM_NAMESPACE));
    let known: BTreeSet<Option<String>> = global.map(|one| one.uid.clone()).collect();
    let condition = status.conditions.iter().find(|it| it.type_ == CATALOG_SOURCES_UNHEALTHY);
    let reason = condition.and_then(|condition| condition.reason.as_deref());
    known == *catalogs && reason.is_some_and(|reason| !PASSING.contains(&reason))
}
