//! What an install does so that servers can be called (spec olm-operator 3.1 step 1, 3.6).

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use olm_effect::{CertificateOrder, Effect, Target};
use olm_types::api::ClusterServiceVersion;
use serde_json::json;

use super::observed::ServingObjects;
use super::order;
use super::provision::{Choice, Provision, choose};
use super::served_deployment::{ServedDeployment, served_deployments};
use super::server_roles::rights;
use super::writes::{apply, managed, owner_reference};
use crate::writes::resource_of;

/// What an install has to do about servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServingPlan {
    /// Services and rights.
    pub surroundings: Vec<Effect>,
    /// Secrets. Clients that exist already must trust `trusted` before these are written.
    pub secrets: Vec<Effect>,
    /// Whom clients are to trust, as PEM, by the name of the Deployment.
    pub trusted: BTreeMap<String, Vec<u8>>,
    /// Hash of each authority, by the name of the Deployment.
    pub hashes: BTreeMap<String, String>,
    /// When the first of the new certificates is due; absent when none is new.
    pub renewed_until: Option<Timestamp>,
}

/// The plan, or the certificates that it takes.
pub(crate) fn plan_serving(
    csv: &ClusterServiceVersion,
    objects: &ServingObjects,
    trusted_now: impl Fn(&str) -> Vec<u8>,
    now: Timestamp,
) -> Result<ServingPlan, CertificateOrder> {
    let all: Vec<(ServedDeployment<'_>, Choice<'_>)> = served_deployments(csv)
        .into_iter()
        .map(|deployment| {
            let secret = objects.secrets.get(&deployment.names.secret()).map(AsRef::as_ref);
            let choice = choose(&deployment, secret, now);
            (deployment, choice)
        })
        .collect();
    let wanted = all.iter().filter(|(_, choice)| *choice == Choice::Issue);
    let wanted: BTreeMap<String, Vec<String>> = wanted
        .map(|(deployment, _)| (deployment.names.secret(), deployment.names.hosts()))
        .collect();
    let mut plan = ServingPlan::default();
    for (deployment, choice) in &all {
        let before = trusted_now(&deployment.entry.name);
        let Some(provision) = provision(csv, objects, deployment, *choice, &before) else {
            return Err(order(wanted, now));
        };
        plan.surroundings.push(service(csv, deployment));
        plan.surroundings.extend(rights(csv, deployment, objects));
        plan.add(&deployment.entry.name, provision);
    }
    Ok(plan)
}

impl ServingPlan {
    fn add(&mut self, deployment: &str, provision: Provision) {
        self.secrets.extend(provision.write);
        self.trusted.insert(deployment.to_owned(), provision.trusted);
        self.hashes.insert(deployment.to_owned(), provision.hash);
        let renewed = [self.renewed_until, provision.renewed_until];
        self.renewed_until = renewed.into_iter().flatten().min();
    }
}

/// `None` when a certificate has to be issued first.
fn provision(
    csv: &ClusterServiceVersion,
    objects: &ServingObjects,
    deployment: &ServedDeployment<'_>,
    choice: Choice<'_>,
    trusted_now: &[u8],
) -> Option<Provision> {
    let name = deployment.names.secret();
    let secret = objects.secrets.get(&name).map(AsRef::as_ref);
    Some(match (choice, secret) {
        (Choice::Keep(active), Some(secret)) => Provision::keep(csv, deployment, secret, active),
        (Choice::Promote(next), Some(secret)) => Provision::promote(csv, deployment, secret, next),
        (Choice::Issue | Choice::Keep(_) | Choice::Promote(_), secret) => {
            let issued = objects.issued.as_ref()?;
            let server = issued.servers.get(&name)?;
            Provision::issue(csv, deployment, secret, (issued, server), trusted_now)
        }
    })
}

/// Applied, so that fields which others set stay theirs.
fn service(csv: &ClusterServiceVersion, deployment: &ServedDeployment<'_>) -> Effect {
    let name = deployment.names.service();
    let object = json!({
        "metadata": {
            "name": name,
            "namespace": deployment.names.namespace(),
            "labels": managed(),
            "ownerReferences": [owner_reference(csv)],
        },
        "spec": {"ports": deployment.ports, "selector": deployment.selector()},
    });
    apply(Target::namespaced(resource_of::<Service>(), deployment.names.namespace(), &name), object)
}
