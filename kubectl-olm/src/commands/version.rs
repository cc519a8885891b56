//! `version`: of this program, of the API server, and of OLM.

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams};
use olm_client::{Cluster, TimedOut, cause};
use olm_plan::settings::{Installation, PROGRAMS, installations};
use olm_plan::skew::skew;
use serde::Serialize;

use crate::Outcome;
use crate::args::Format;
use crate::output::{Kind, Output};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    client: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    olm: Vec<Installation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
    skew: Vec<String>,
}

/// The version of this program.
const CLIENT: &str = env!("CARGO_PKG_VERSION");

/// Prints the version of this program.
pub fn of_client(output: Output) -> Result<Outcome> {
    let (olm, unknown, skew) = (Vec::new(), Vec::new(), Vec::new());
    print(output, &Versions { client: CLIENT, server: None, olm, unknown, skew })
}

/// Prints all versions; what may not be read is named as unknown.
pub async fn of_all(cluster: &Cluster, output: Output) -> Result<Outcome> {
    let server = cluster.answer(cluster.client.apiserver_version()).await?.git_version;
    let api: Api<Deployment> = Api::all(cluster.client.clone());
    let of_olm = ListParams::default().labels(PROGRAMS);
    let (olm, unknown) = match cluster.answer(api.list(&of_olm)).await {
        Ok(found) => (installations(&found.items), Vec::new()),
        Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
        Err(error) => (Vec::new(), vec![format!("version of OLM: {}", cause(&error))]),
    };
    let skew = skew(CLIENT, &olm, Some(&server));
    print(output, &Versions { client: CLIENT, server: Some(server), olm, unknown, skew })
}

fn print(output: Output, versions: &Versions) -> Result<Outcome> {
    if !matches!(output.format(), Format::Table | Format::Wide) {
        output.object(Kind::Version, versions)?;
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
            olm.flavour.as_str(),
            olm.image,
            olm.namespace
        ));
    }
    versions.unknown.iter().for_each(|what| text.push_str(&format!("unknown: {what}\n")));
    versions.skew.iter().for_each(|what| text.push_str(&format!("skew: {what}\n")));
    output.print(&text)?;
    Ok(Outcome::Fine)
}

#[cfg(test)]
mod tests {
    use olm_plan::settings::Flavour;

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_versions() {
        let (namespace, image) = ("olm".to_owned(), "olm-rs:v0.2.0".to_owned());
        let olm = vec![Installation { flavour: Flavour::OlmRs, namespace, image }];
        let skew = skew("0.1.0", &olm, None);
        let unknown = vec!["version of OLM".to_owned()];
        let server = Some("v1.34.0".to_owned());
        assert_described(Kind::Version, &Versions { client: CLIENT, server, olm, unknown, skew });
        let (olm, unknown, skew) = (Vec::new(), Vec::new(), Vec::new());
        let alone = Versions { client: CLIENT, server: None, olm, unknown, skew };
        assert_described(Kind::Version, &alone);
    }
}
