//! Whom a plan was made for, and what became of that: from the stores, and from the API server
//! before the first write.
//!
//! Watches of different kinds keep no order among each other: the deletion of an older plan may be
//! known before that of the Subscription which it followed from.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ListParams, ObjectMeta, PartialObjectMeta};
use kube::{Api, Client, ResourceExt};
use olm_kit::controller::ReconcileError;
use olm_kit::live;
use olm_lifecycle::install_plan::continuation::{CurrentObjects, Surroundings, followers};
use olm_lifecycle::install_plan::phase::Observed;
use olm_types::api::{InstallPlan, OperatorGroup, Subscription};
use olm_types::bundle::{CatalogKey, Entry};

use crate::catalogs::{Catalogs, Content};
use crate::stores::Stores;

/// What the stores say.
pub(super) fn stored(plan: &InstallPlan, stores: &Stores, catalogs: &Catalogs) -> Surroundings {
    let namespace = plan.namespace().unwrap_or_default();
    let subscriptions = stores.subscriptions.list_in(&namespace);
    Surroundings {
        namespace_goes: false,
        unoffered: unoffered(plan, &subscriptions, catalogs),
        csvs: stores.csvs.list_in(&namespace),
        subscriptions,
    }
}

/// What the stores say in the middle of an execution.
pub(super) fn now(before: &Observed, stores: &Stores) -> CurrentObjects {
    let (plan, namespace) = (&before.plan, before.plan.namespace().unwrap_or_default());
    CurrentObjects {
        plan: stores.plans.get(Some(&namespace), &plan.name_any()),
        around: Surroundings {
            subscriptions: stores.subscriptions.list_in(&namespace),
            csvs: stores.csvs.list_in(&namespace),
            ..before.around.clone()
        },
        groups: stores.groups.list_in(&namespace),
    }
}

/// What the API server says about plan, Subscriptions, OperatorGroups and Namespace.
///
/// # Errors
/// It cannot be asked.
pub(super) async fn live(
    client: &Client,
    before: &Observed,
) -> Result<CurrentObjects, ReconcileError> {
    let (namespace, name) = (before.plan.namespace().unwrap_or_default(), before.plan.name_any());
    let all = ListParams::default();
    let plans: Api<InstallPlan> = Api::namespaced(client.clone(), &namespace);
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let (plan, subscriptions, groups, home) = tokio::try_join!(
        plans.get_metadata_opt(&name),
        live::list::<Subscription>(client, Some(&namespace), &all),
        live::list::<OperatorGroup>(client, Some(&namespace), &all),
        namespaces.get_metadata_opt(&namespace),
    )?;
    let plan = plan.map(|live| {
        let mut plan = InstallPlan::clone(&before.plan);
        // Its status is the one that was observed, so a write of it is guarded by that version.
        let resource_version = plan.metadata.resource_version.take();
        plan.metadata = ObjectMeta { resource_version, ..live.metadata };
        Arc::new(plan)
    });
    let goes = |home: PartialObjectMeta<Namespace>| home.metadata.deletion_timestamp.is_some();
    Ok(CurrentObjects {
        plan,
        around: Surroundings {
            namespace_goes: home.is_none_or(goes),
            subscriptions: subscriptions.into_iter().map(Arc::new).collect(),
            ..before.around.clone()
        },
        groups: groups.into_iter().map(Arc::new).collect(),
    })
}

/// CSVs of the plan that a catalog, which is loaded, does not offer to the Subscription that moves
/// to them.
fn unoffered(
    plan: &InstallPlan,
    subscriptions: &[Arc<Subscription>],
    catalogs: &Catalogs,
) -> BTreeSet<String> {
    let lost = followers(plan, subscriptions)
        .filter(|(csv, subscription)| !offers(catalogs, subscription, csv));
    lost.map(|(csv, _)| csv.to_owned()).collect()
}

/// Whether the subscribed channel has the CSV, as far as that is known.
fn offers(catalogs: &Catalogs, subscription: &Subscription, csv: &str) -> bool {
    let spec = &subscription.spec;
    let key = CatalogKey::new(&spec.source_namespace, &spec.source);
    let Content::Loaded(snapshot) = catalogs.content(&key) else { return true };
    let channel = spec.channel.as_deref().filter(|channel| !channel.is_empty());
    let is_it = |entry: &Entry| {
        *entry.name == *csv && channel.is_none_or(|channel| *entry.channel == *channel)
    };
    snapshot.package(&spec.name).iter().any(|entry| is_it(entry))
}
