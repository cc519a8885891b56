//! What exists of the objects behind the servers of a CSV, as olm-operator gathers it.

use std::collections::BTreeSet;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::RoleBinding;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::Target;
use olm_lifecycle::certificates::{
    KUBE_SYSTEM, ServedDeployment, ServingObjects, auth_readers, owned_api_services,
    served_deployments,
};
use olm_lifecycle::csv::{ClusterOwned, is_copied};
use olm_lifecycle::writes::resource_of;
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::owner_by_label;
use serde_json::Value;

use super::Work;
use super::observe::{in_cluster, ours, present};
use crate::observed::{name, namespace};
use crate::preview::known::Key;
use crate::preview::prepare::olm_key;
use crate::preview::world::{World, owners};
use crate::settings::Flavour;

/// What exists for the servers of a CSV.
pub(super) fn observe(world: &mut World<'_>, csv: &ClusterServiceVersion) -> ServingObjects {
    let served = served_deployments(csv);
    if served.is_empty() && owned_api_services(csv).next().is_none() {
        return ServingObjects::default();
    }
    let home = csv.metadata.namespace.as_deref();
    let named = |name: fn(&ServedDeployment<'_>) -> String| served.iter().map(name);
    let secrets: Vec<String> = named(|one| one.names.secret()).collect();
    ServingObjects {
        services: present(world, home, named(|one| one.names.service())),
        secrets: present(world, home, secrets.clone()),
        roles: present(world, home, secrets.clone()),
        role_bindings: present(world, home, secrets),
        auth_delegators: present(world, None, named(|one| one.names.auth_delegator())),
        auth_readers: present(world, Some(KUBE_SYSTEM), named(|one| one.names.auth_reader())),
        accounts: accounts(world, home, &served),
        validating: ours(world, csv, None),
        mutating: ours(world, csv, None),
        labelled_api_services: ours(world, csv, None),
        abandoned_api_services: abandoned(world, csv),
        issued: None,
    }
}

/// Removes the Secrets of servers that go with CSVs that are replaced. v0 does not make the next CSV their owner, so
/// that one gets new certificates.
pub(in crate::preview) fn remove_certificates(
    world: &mut World<'_>,
    home: &str,
    replaced: &BTreeSet<String>,
) {
    for csv in replaced {
        let Some(csv) = world.named::<ClusterServiceVersion>(Some(home), csv) else { continue };
        for server in served_deployments(&csv) {
            let secret = server.names.secret();
            let target = Target::namespaced(resource_of::<Secret>(), home, &secret);
            if world.live(&target).is_some_and(|secret| is_owned_by(&secret, &csv)) {
                world.delete(&Key::of_target(&target));
            }
        }
    }
}

/// Whether an object goes with a CSV.
fn is_owned_by(object: &Value, csv: &ClusterServiceVersion) -> bool {
    let mut owners = owners(object).iter().peekable();
    let uid = csv.metadata.uid.as_deref();
    owners.peek().is_some() && owners.all(|owner| owner["uid"].as_str() == uid)
}

fn accounts(
    world: &mut World<'_>,
    home: Option<&str>,
    served: &[ServedDeployment<'_>],
) -> BTreeSet<String> {
    let names = served.iter().map(ServedDeployment::account);
    let found = names.filter(|name| world.named::<ServiceAccount>(home, name).is_some());
    found.collect()
}

/// API services of the CSV whose labels name a CSV that is not there.
fn abandoned(world: &mut World<'_>, csv: &ClusterServiceVersion) -> BTreeSet<String> {
    let names: Vec<String> = owned_api_services(csv).map(|api| api.api_service_name()).collect();
    let is_abandoned = |name: &String| {
        let Some(found) = world.named::<APIService>(None, name) else { return false };
        let labels = found.metadata.labels.as_ref();
        let owner = labels.and_then(|all| owner_by_label(all, ClusterServiceVersion::KIND));
        owner.is_some_and(|owner| {
            let key = olm_key(ClusterServiceVersion::KIND, owner.namespace, owner.name);
            world.get(&key).is_none()
        })
    };
    names.into_iter().filter(is_abandoned).collect()
}

/// What has to go with a CSV that is deleted and has no owner reference. v0 leaves the binding in `kube-system`.
pub(super) fn cluster_owned(
    world: &mut World<'_>,
    work: &Work<'_>,
    csv: &ClusterServiceVersion,
) -> Vec<ClusterOwned> {
    let mut all = in_cluster::<ValidatingWebhookConfiguration>(world, csv);
    all.extend(in_cluster::<MutatingWebhookConfiguration>(world, csv));
    if work.asked.settings.flavour == Flavour::OlmRs {
        all.extend(readers(world, csv));
    }
    all
}

fn readers(world: &mut World<'_>, csv: &ClusterServiceVersion) -> Vec<ClusterOwned> {
    let home = namespace(&csv.metadata).to_owned();
    let others = world.all::<ClusterServiceVersion>(Some(&home));
    let others = others.iter().filter(|other| !is_copied(other));
    let others = others.filter(|other| other.metadata.name != csv.metadata.name);
    let names = auth_readers(csv, others.map(AsRef::as_ref));
    let bindings = present::<RoleBinding>(world, Some(KUBE_SYSTEM), names);
    let of_namespace = bindings.into_values().filter(|binding| {
        let mut subjects = binding.subjects.iter().flatten();
        subjects.all(|subject| subject.namespace.as_ref() == Some(&home))
    });
    of_namespace
        .map(|binding| ClusterOwned {
            target: Target::namespaced(
                resource_of::<RoleBinding>(),
                KUBE_SYSTEM,
                name(&binding.metadata),
            ),
            uid: binding.metadata.uid.clone(),
            is_going: binding.metadata.deletion_timestamp.is_some(),
        })
        .collect()
}
