//! `version`: of this program, of the API server, and of OLM.

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams};
use olm_plan::observed::namespace;
use serde::Serialize;

use crate::Outcome;
use crate::args::Format;
use crate::cluster::{Cluster, TimedOut, cause};
use crate::output::Output;

/// The label of OLM's programs. Only v0 has one of its own for the packages API.
const OF_OLM: &str = "app in (olm-operator,packageserver)";
const PACKAGE_SERVER: &str = "packageserver";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    client: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    olm: Vec<Olm>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Olm {
    flavour: &'static str,
    namespace: String,
    image: String,
}

/// Prints the version of this program.
pub fn of_client(output: Output) -> Result<Outcome> {
    let (server, olm, unknown) = (None, Vec::new(), Vec::new());
    print(output, &Versions { client: env!("CARGO_PKG_VERSION"), server, olm, unknown })
}

/// Prints all versions; what may not be read is named as unknown.
pub async fn of_all(cluster: &Cluster, output: Output) -> Result<Outcome> {
    let server = cluster.answer(cluster.client.apiserver_version()).await?.git_version;
    let api: Api<Deployment> = Api::all(cluster.client.clone());
    let of_olm = ListParams::default().labels(OF_OLM);
    let (olm, unknown) = match cluster.answer(api.list(&of_olm)).await {
        Ok(found) => (flavours(&found.items), Vec::new()),
        Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
        Err(error) => (Vec::new(), vec![format!("version of OLM: {}", cause(&error))]),
    };
    let client = env!("CARGO_PKG_VERSION");
    print(output, &Versions { client, server: Some(server), olm, unknown })
}

/// Every OLM: each Deployment of the program of ClusterServiceVersions.
fn flavours(deployments: &[Deployment]) -> Vec<Olm> {
    let has_app = |one: &Deployment, app: &str| {
        let labels = one.metadata.labels.as_ref();
        labels.and_then(|labels| labels.get("app")).is_some_and(|value| value == app)
    };
    let (servers, operators): (Vec<&Deployment>, Vec<&Deployment>) =
        deployments.iter().partition(|one| has_app(one, PACKAGE_SERVER));
    let olm = |deployment: &&Deployment| {
        let home = namespace(&deployment.metadata);
        let is_v0 = servers.iter().any(|server| namespace(&server.metadata) == home);
        let pod = deployment.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
        let image = pod.and_then(|pod| pod.containers.first()?.image.clone());
        Olm {
            flavour: if is_v0 { "OLM v0" } else { "olm-rs" },
            namespace: home.to_owned(),
            image: image.unwrap_or_default(),
        }
    };
    operators.iter().map(olm).collect()
}

fn print(output: Output, versions: &Versions) -> Result<Outcome> {
    if !matches!(output.format(), Format::Table | Format::Wide) {
        output.object("Version", versions)?;
        return Ok(Outcome::Fine);
    }
    let mut text = format!("client: {}\n", versions.client);
    if let Some(server) = &versions.server {
        text.push_str(&format!("server: {server}\n"));
        if versions.olm.is_empty() && versions.unknown.is_empty() {
            text.push_str("olm: no Deployment of it in this cluster\n");
        }
    }
    for olm in &versions.olm {
        text.push_str(&format!(
            "olm: {}, {} in namespace {}\n",
            olm.flavour, olm.image, olm.namespace
        ));
    }
    versions.unknown.iter().for_each(|what| text.push_str(&format!("unknown: {what}\n")));
    output.print(&text)?;
    Ok(Outcome::Fine)
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn only_v0_has_a_package_server_beside_it() {
        let deployment = |namespace: &str, app: &str| {
            let containers = json!([{"name": "c", "image": app}]);
            from_value(
                json!({"metadata": {"name": app, "namespace": namespace, "labels": {"app": app}},
                "spec": {"selector": {}, "template": {"spec": {"containers": containers}}}}),
            )
            .unwrap()
        };
        let found = flavours(&[
            deployment("a", "olm-operator"),
            deployment("b", "olm-operator"),
            deployment("b", "packageserver"),
        ]);
        let found: Vec<_> = found.iter().map(|olm| (&*olm.namespace, olm.flavour)).collect();
        assert_eq!(found, [("a", "olm-rs"), ("b", "OLM v0")]);
    }
}
