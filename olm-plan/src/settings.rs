//! How OLM runs in a cluster, as the Deployments of its programs say: where its global catalogs are, what a
//! refusal stops, how far tenants are trusted.
//!
//! What the Deployments do not say is as the programs have it without a flag. OLM v0 has its own answers.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Container, EnvVar};
use olm_opgroup::TenantPolicy;
use olm_resolver::Policy;
use olm_types::annotations::OURS;
use olm_types::api::Subscription;
use serde::Serialize;

use crate::observed::namespace;

/// The label selector of OLM's programs.
pub const PROGRAMS: &str = "app in (olm-operator,catalog-operator,packageserver)";

/// The label of each program, and the values that it has.
const LABEL: &str = "app";
const OLM_OPERATOR: &str = "olm-operator";
const CATALOG_OPERATOR: &str = "catalog-operator";

/// Only v0 has a program of its own for the packages API.
const PACKAGE_SERVER: &str = "packageserver";

/// What overrides the namespace of global catalogs.
const GLOBAL: &str = "GLOBAL_CATALOG_NAMESPACE";

/// The namespace of OLM that its programs take without a flag.
const HOME: &str = "olm";

/// Which OLM it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Flavour {
    /// This project's.
    #[serde(rename = "olm-rs")]
    OlmRs,
    /// The Operator Lifecycle Manager v0 in Go.
    #[serde(rename = "OLM v0")]
    V0,
}

impl Flavour {
    /// As it is printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OlmRs => "olm-rs",
            Self::V0 => "OLM v0",
        }
    }
}

/// An OLM in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Installation {
    /// Which one.
    pub flavour: Flavour,
    /// The namespace of its programs.
    pub namespace: String,
    /// The image of the program of ClusterServiceVersions.
    pub image: String,
}

/// How OLM decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which OLM it is.
    pub flavour: Flavour,
    /// The namespace that its programs call theirs.
    pub namespace: String,
    /// The namespace of catalogs that every namespace sees.
    pub global_namespace: String,
    /// What a Subscription that cannot be met stops.
    pub resolution: Policy,
    /// How far owners of namespaces are trusted.
    pub tenants: TenantPolicy,
    /// Whether no version of a CRD in which objects may be stored is retired.
    pub keeps_stored_versions: bool,
    /// Whether no bundle is chosen that needs a newer Kubernetes.
    pub checks_cluster_version: bool,
    /// The image that serves catalogs, where a flag names it.
    pub registry_image: Option<String>,
}

impl Default for Settings {
    /// Those of this project's programs without flags.
    fn default() -> Self {
        Self {
            flavour: Flavour::OlmRs,
            namespace: HOME.to_owned(),
            global_namespace: HOME.to_owned(),
            resolution: Policy::default(),
            tenants: TenantPolicy::default(),
            keeps_stored_versions: false,
            checks_cluster_version: false,
            registry_image: None,
        }
    }
}

impl Settings {
    /// Those of an OLM whose programs have no flags.
    #[must_use]
    pub fn of_flavour(flavour: Flavour) -> Self {
        let ours = Self::default();
        match flavour {
            Flavour::OlmRs => ours,
            Flavour::V0 => {
                Self { flavour, resolution: Policy::V0, keeps_stored_versions: true, ..ours }
            }
        }
    }

    /// A Subscription as OLM reads it: v0 knows no annotation of olm-rs.
    #[must_use]
    pub fn as_read(&self, mut subscription: Subscription) -> Subscription {
        if self.flavour == Flavour::V0
            && let Some(annotations) = &mut subscription.metadata.annotations
        {
            annotations.retain(|key, _| !key.starts_with(OURS));
        }
        subscription
    }

    /// The settings that the Deployments of OLM's programs say; none without one of the program that
    /// resolves.
    #[must_use]
    pub fn of(deployments: &[Deployment]) -> Option<Self> {
        let resolves = deployments.iter().find(|one| is_program(one, CATALOG_OPERATOR))?;
        let home = namespace(&resolves.metadata);
        let flags = Flags::of(resolves)?;
        let is_v0 = deployments
            .iter()
            .any(|one| is_program(one, PACKAGE_SERVER) && namespace(&one.metadata) == home);
        let known = Self::default();
        let named = flags.get("namespace").unwrap_or(HOME);
        let flavour = if is_v0 { Flavour::V0 } else { Flavour::OlmRs };
        let resolution = flags.get("resolution").and_then(|text| text.parse().ok());
        Some(Self {
            flavour,
            namespace: named.to_owned(),
            global_namespace: flags.variable(GLOBAL).unwrap_or(named).to_owned(),
            resolution: if is_v0 { Policy::V0 } else { resolution.unwrap_or(known.resolution) },
            tenants: flags
                .get("tenant-policy")
                .and_then(|text| text.parse().ok())
                .unwrap_or(known.tenants),
            keeps_stored_versions: is_v0 || flags.get("retire-stored-versions") == Some("false"),
            checks_cluster_version: flags.is_on("check-cluster-version"),
            registry_image: flags.get("opmImage").map(str::to_owned),
        })
    }
}

/// Every OLM among Deployments: each of the program of ClusterServiceVersions.
#[must_use]
pub fn installations(deployments: &[Deployment]) -> Vec<Installation> {
    let operators = deployments.iter().filter(|one| is_program(one, OLM_OPERATOR));
    let installation = |operator: &Deployment| {
        let home = namespace(&operator.metadata);
        let is_v0 = deployments
            .iter()
            .any(|one| is_program(one, PACKAGE_SERVER) && namespace(&one.metadata) == home);
        Installation {
            flavour: if is_v0 { Flavour::V0 } else { Flavour::OlmRs },
            namespace: home.to_owned(),
            image: container(operator).and_then(|one| one.image.clone()).unwrap_or_default(),
        }
    };
    operators.map(installation).collect()
}

fn is_program(deployment: &Deployment, app: &str) -> bool {
    let labels = deployment.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(LABEL)).is_some_and(|value| value == app)
}

fn container(deployment: &Deployment) -> Option<&Container> {
    deployment.spec.as_ref()?.template.spec.as_ref()?.containers.first()
}

/// The flags and variables of a program.
struct Flags {
    flags: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
}

impl Flags {
    fn of(deployment: &Deployment) -> Option<Self> {
        let container = container(deployment)?;
        let variables: BTreeMap<String, String> = container
            .env
            .iter()
            .flatten()
            .filter_map(|one| Some((one.name.clone(), value(one, deployment)?)))
            .collect();
        let words = [&container.command, &container.args].into_iter().flatten().flatten();
        let words: Vec<String> = words.map(|word| expanded(word, &variables)).collect();
        Some(Self { flags: flags(&words), variables })
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.flags.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A flag that is on or off: without a value it is on.
    fn is_on(&self, name: &str) -> bool {
        self.flags.get(name).is_some_and(|value| !matches!(value.as_str(), "false" | "0" | "f"))
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// The value of a variable, where it is written down or the namespace of the Pod.
fn value(variable: &EnvVar, deployment: &Deployment) -> Option<String> {
    let field = variable.value_from.as_ref().and_then(|from| from.field_ref.as_ref());
    match field {
        Some(field) if field.field_path == "metadata.namespace" => {
            Some(namespace(&deployment.metadata).to_owned())
        }
        Some(_) => None,
        None => variable.value.clone(),
    }
}

/// A word with its `$(NAME)` replaced, as a kubelet does.
fn expanded(word: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = word.to_owned();
    for (name, value) in variables {
        text = text.replace(&format!("$({name})"), value);
    }
    text
}

/// Flags by name: `--name=value`, `--name value`, or a name alone.
fn flags(words: &[String]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix('-').map(|rest| rest.trim_start_matches('-')) else {
            continue;
        };
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => {
                let next = words.peek().filter(|next| !next.starts_with('-'));
                (flag, next.map(|next| (*next).clone()).unwrap_or_default())
            }
        };
        found.insert(name.to_owned(), value);
    }
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn deployment(home: &str, app: &str, args: &[&str], env: Value) -> Deployment {
        from_value(json!({"metadata": {"name": app, "namespace": home, "labels": {"app": app}},
            "spec": {"selector": {}, "template": {"spec": {"containers": [{"name": "c",
                "image": format!("{app}:1"), "args": args, "env": env}]}}}}))
        .unwrap()
    }

    #[rstest]
    #[case::none(&[], json!([]), "olm olm isolated V0 false")]
    #[case::namespace(&["--namespace", "$(HOME)"], json!([{"name": "HOME", "valueFrom":
        {"fieldRef": {"fieldPath": "metadata.namespace"}}}]), "home home isolated V0 false")]
    #[case::openshift(&["--namespace=market"], json!([{"name": "GLOBAL_CATALOG_NAMESPACE",
        "value": "openshift-marketplace"}]), "market openshift-marketplace isolated V0 false")]
    #[case::policies(&["--resolution=v0", "--tenant-policy", "strict", "--check-cluster-version"],
        json!([]), "olm olm v0 Strict true")]
    #[case::off(&["--check-cluster-version=false", "--resolution=other"], json!([]),
        "olm olm isolated V0 false")]
    fn flags_of_the_program_count(
        #[case] args: &[&str],
        #[case] env: Value,
        #[case] expected: &str,
    ) {
        let found = Settings::of(&[deployment("home", "catalog-operator", args, env)]).unwrap();
        let policy = if found.resolution == Policy::V0 { "v0" } else { "isolated" };
        let (home, global) = (&found.namespace, &found.global_namespace);
        let checks = found.checks_cluster_version;
        assert_eq!(format!("{home} {global} {policy} {:?} {checks}", found.tenants), expected);
    }

    /// Its programs say the same.
    #[test]
    fn v0_without_flags_is_known() {
        let all = ["catalog-operator", "packageserver"];
        let all = all.map(|app| deployment("olm", app, &[], json!([])));
        assert_eq!(Settings::of(&all), Some(Settings::of_flavour(Flavour::V0)));
        assert_eq!(Settings::of(&all[..1]), Some(Settings::of_flavour(Flavour::OlmRs)));
    }

    #[test]
    fn only_v0_has_a_package_server_beside_it() {
        let app = |home: &str, app: &str| deployment(home, app, &[], json!([]));
        let all = [
            app("a", "olm-operator"),
            app("b", "olm-operator"),
            app("b", "catalog-operator"),
            app("b", "packageserver"),
        ];
        let found = installations(&all);
        let found: Vec<_> = found.iter().map(|olm| (&*olm.namespace, olm.flavour)).collect();
        assert_eq!(found, [("a", Flavour::OlmRs), ("b", Flavour::V0)]);
        let settings = Settings::of(&all).unwrap();
        assert_eq!((settings.resolution, settings.keeps_stored_versions), (Policy::V0, true));
        assert_eq!(Settings::of(&all[..2]), None);
    }
}
