//! Whether everything behind the owned API services is as the install left it
//! (spec olm-operator 3.7, item 3).

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::rbac::v1::Subject;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_types::annotations::CA_HASH;
use olm_types::api::ApiServiceDescription;

use super::write::authority_of;
use super::write::is_adoptable;
use crate::certificates::{
    Certificate, CertificateError, ServedDeployment, ServingCsv, ServingNames, ServingSecret,
    authority_hash, is_named, owned_api_services, served_deployments, trusts,
};

/// What is wrong, in the order of the CSV's API services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceErrors {
    texts: Vec<String>,
    unadoptable: bool,
}

impl ResourceErrors {
    /// Whether an install would mend it: nothing of it belongs to another owner.
    pub(crate) fn is_actionable(&self) -> bool {
        !self.unadoptable
    }

    fn push(&mut self, text: String) {
        if !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }
}

impl std::fmt::Display for ResourceErrors {
    /// One text alone, several in brackets, as Go aggregates errors.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.texts.as_slice() {
            [text] => f.write_str(text),
            texts => write!(f, "[{}]", texts.join(", ")),
        }
    }
}

/// Checks all owned API services.
///
/// # Errors
/// When something is missing or does not fit together.
pub(crate) fn check_resources(observed: &ServingCsv<'_>) -> Result<(), ResourceErrors> {
    let mut errors = ResourceErrors::default();
    let served_deployments = served_deployments(observed.csv);
    for api in owned_api_services(observed.csv) {
        let name = api.api_service_name();
        let Some(service) = observed.api_services.get(&name) else {
            errors.push(not_found("apiservice.apiregistration.k8s.io", &name));
            continue;
        };
        if !is_adoptable(observed, service) {
            errors.push(format!("{name} is unadoptable"));
            errors.unadoptable = true;
            break;
        }
        if let Err(text) = check_one(observed, api, service) {
            errors.push(text);
            continue;
        }
        let mut served_deployments = served_deployments.iter();
        let own =
            served_deployments.find(|one| Some(&one.entry.name) == api.deployment_name.as_ref());
        own.iter().flat_map(|one| missing_rights(observed, one)).for_each(|text| errors.push(text));
    }
    if errors.texts.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_one(
    observed: &ServingCsv<'_>,
    api: &ApiServiceDescription,
    service: &APIService,
) -> Result<(), String> {
    let deployment = api.deployment_name.as_deref().unwrap_or_default();
    let names = ServingNames::new(observed.namespace(), deployment);
    let objects = &observed.serving;
    if !objects.services.contains_key(&names.service()) {
        return Err(not_found("service", &names.service()));
    }
    if !refers_to(service, &names) {
        return Err("found APIService and service reference mismatch".to_owned());
    }
    let bundle = authority_of(observed, api).unwrap_or_default();
    Certificate::read(bundle).map_err(|error| unreadable(&error))?;
    let secret = objects.secrets.get(&names.secret());
    let secret = secret.ok_or_else(|| not_found("secret", &names.secret()))?;
    let hash = expected_hash(secret, bundle)?;
    let annotations = secret.metadata.annotations.as_ref();
    if annotations.and_then(|all| all.get(CA_HASH)) != Some(&hash) {
        return Err(format!("secret {} CA cert hash does not match expected", names.secret()));
    }
    check_deployment(observed, deployment, &hash)
}

/// During a rotation the bundle holds more than the active authority; the hash is that one's.
fn expected_hash(secret: &Secret, bundle: &[u8]) -> Result<String, String> {
    let active = ServingSecret::new(secret).active();
    Certificate::read(active.certificate).map_err(|error| unreadable(&error))?;
    Ok(authority_hash(if trusts(bundle, active.authority) { active.authority } else { bundle }))
}

/// v0's text where it has one.
fn unreadable(error: &CertificateError) -> String {
    match error {
        CertificateError::NotPem => "cert PEM empty".to_owned(),
        other => format!("a certificate {other}"),
    }
}

fn check_deployment(observed: &ServingCsv<'_>, name: &str, hash: &str) -> Result<(), String> {
    let Some(deployment) = observed.deployments.get(name) else {
        return Err(not_found("deployment.apps", name));
    };
    let template = deployment.spec.as_ref().and_then(|spec| spec.template.metadata.as_ref());
    let annotations = template.and_then(|metadata| metadata.annotations.as_ref());
    match annotations.and_then(|all| all.get(CA_HASH)) {
        Some(found) if found == hash => Ok(()),
        _ => Err(format!("deployment {name} CA cert hash does not match expected")),
    }
}

fn refers_to(service: &APIService, names: &ServingNames) -> bool {
    let reference = service.spec.as_ref().and_then(|spec| spec.service.as_ref());
    reference.is_some_and(|found| {
        found.name.as_deref() == Some(names.service().as_str())
            && found.namespace.as_deref() == Some(names.namespace())
    })
}

fn missing_rights(observed: &ServingCsv<'_>, deployment: &ServedDeployment<'_>) -> Vec<String> {
    let (objects, names) = (&observed.serving, &deployment.names);
    let account = deployment.account();
    let checks = [
        (objects.accounts.contains(&account), "serviceaccount", account),
        (
            objects.roles.contains_key(&names.secret()),
            "role.rbac.authorization.k8s.io",
            names.secret(),
        ),
        (
            objects.role_bindings.contains_key(&names.secret()),
            "rolebinding.rbac.authorization.k8s.io",
            names.secret(),
        ),
    ];
    let missing = checks.into_iter().filter(|(exists, _, _)| !exists);
    let missing = missing.map(|(_, kind, name)| not_found(kind, &name));
    let delegator = objects.auth_delegators.get(&names.auth_delegator());
    let reader = objects.auth_readers.get(&names.auth_reader());
    let unbound = [
        unbound(
            deployment,
            delegator.map(|binding| binding.subjects.as_deref().unwrap_or_default()),
            "clusterrolebinding.rbac.authorization.k8s.io",
            &names.auth_delegator(),
        ),
        unbound(
            deployment,
            reader.map(|binding| binding.subjects.as_deref().unwrap_or_default()),
            "rolebinding.rbac.authorization.k8s.io",
            &names.auth_reader(),
        ),
    ];
    missing.chain(unbound.into_iter().flatten()).collect()
}

/// What is wrong with a binding, of which these are the subjects if it is there; nothing when it names the
/// server's account.
fn unbound(
    deployment: &ServedDeployment<'_>,
    subjects: Option<&[Subject]>,
    kind: &str,
    name: &str,
) -> Option<String> {
    let Some(subjects) = subjects else { return Some(not_found(kind, name)) };
    if is_named(deployment, subjects) {
        return None;
    }
    let (namespace, account) = (deployment.names.namespace(), deployment.account());
    Some(format!("{kind} \"{name}\" does not name serviceaccount {namespace}/{account}"))
}

fn not_found(kind: &str, name: &str) -> String {
    format!("{kind} \"{name}\" not found")
}
