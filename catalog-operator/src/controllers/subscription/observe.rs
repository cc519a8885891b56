//! What is known about a Subscription.

use std::sync::Arc;

use kube::{Client, ResourceExt};
use olm_effect::{Refusal, Target};
use olm_kit::live;
use olm_lifecycle::subscription::deprecations::installed_entry;
use olm_lifecycle::subscription::plan_status::ReferencedPlan;
use olm_lifecycle::subscription::readiness::CsvState;
use olm_lifecycle::subscription::sync::Observed;
use olm_lifecycle::writes::resource_of;
use olm_types::api::{CatalogSource, InstallPlan, Subscription};
use olm_types::bundle::{CatalogKey, Entry};
use serde::Deserialize;

use crate::catalogs::{Catalogs, Content};
use crate::stores::Stores;

/// Gathers the Subscription's plan, catalogs and installed bundle.
pub(super) async fn observe(
    subscription: Arc<Subscription>,
    stores: &Stores,
    connected: &Catalogs,
    client: &Client,
    global_namespace: &str,
) -> Result<Observed, Refusal> {
    let plan = plan(&subscription, stores, client).await?;
    let catalogs = catalogs(&subscription, stores, global_namespace);
    let installed = installed(&subscription, connected);
    let operator = operator(&subscription, stores);
    Ok(Observed { subscription, plan, catalogs, installed, operator })
}

/// A plan that the store does not have is looked for live before it is called missing: the store
/// may be behind, and a missing plan is forgotten and made anew.
async fn plan(
    subscription: &Subscription,
    stores: &Stores,
    client: &Client,
) -> Result<ReferencedPlan, Refusal> {
    let reference =
        subscription.status.as_ref().and_then(|status| status.install_plan_ref.as_ref());
    let Some(name) = reference.and_then(|reference| reference.name.as_deref()) else {
        return Ok(ReferencedPlan::None);
    };
    let namespace = subscription.namespace().unwrap_or_default();
    if let Some(plan) = stores.plans.get(Some(&namespace), name) {
        return Ok(ReferencedPlan::Found(plan));
    }
    let target = Target::namespaced(resource_of::<InstallPlan>(), &namespace, name);
    let found = live::read(client, &target).await?;
    let plan = found.and_then(|plan| InstallPlan::deserialize(&plan).ok());
    Ok(plan.map_or(ReferencedPlan::Missing, |plan| ReferencedPlan::Found(Arc::new(plan))))
}

fn catalogs(
    subscription: &Subscription,
    stores: &Stores,
    global_namespace: &str,
) -> Vec<Arc<CatalogSource>> {
    let namespace = subscription.namespace().unwrap_or_default();
    let mut catalogs = stores.catalogs.list_in(&namespace);
    if namespace != global_namespace {
        catalogs.extend(stores.catalogs.list_in(global_namespace));
    }
    catalogs
}

fn operator(subscription: &Subscription, stores: &Stores) -> Option<CsvState> {
    let csv = subscription.status.as_ref()?.installed_csv.as_deref()?;
    let csv = stores.csvs.get(subscription.metadata.namespace.as_deref(), csv)?;
    Some(CsvState::from(&*csv))
}

fn installed(subscription: &Subscription, connected: &Catalogs) -> Option<Arc<Entry>> {
    let spec = &subscription.spec;
    let key = CatalogKey::new(&spec.source_namespace, &spec.source);
    let Content::Loaded(snapshot) = connected.content(&key) else { return None };
    let entries = snapshot.package(&spec.name);
    installed_entry(subscription.status.as_ref(), spec, entries).cloned()
}
