//! What runs in a cluster, and what was restarted since.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

use crate::operators::OLM_NAMESPACE;

/// The `app` labels of OLM's own Pods, which may stop when another implementation takes over.
const OF_OLM: [&str; 3] = ["catalog-operator", "olm-operator", "packageserver"];

/// The label of the Pods that serve catalogs. Those in OLM's namespace are made anew once: the manifests
/// of v0 and ours say different Pod security for that namespace, from which these Pods take theirs.
const OF_A_CATALOG: &str = "olm.catalogSource";

/// The Pods of a cluster apart from OLM's own, and those of catalogs in its namespace: which ones, and how
/// often they were restarted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pods(BTreeMap<String, String>);

impl Pods {
    /// Those that are there now.
    ///
    /// # Errors
    /// They cannot be listed.
    pub async fn now(client: &Client) -> Result<Self> {
        let pods: Api<Pod> = Api::all(client.clone());
        let list = pods.list(&ListParams::default()).await.context("cannot list Pods")?;
        Ok(Self(list.iter().filter(|pod| !is_of_olm(pod)).map(identity).collect()))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// A line for each that is not what it was before: gone, new or restarted.
    pub fn restarted_since(&self, before: &Self) -> Vec<String> {
        let gone = before.0.keys().filter(|name| !self.0.contains_key(*name));
        let gone = gone.map(|name| format!("Pod {name} is gone"));
        let new = self.0.iter().filter_map(|(name, now)| match before.0.get(name) {
            None => Some(format!("Pod {name} is new")),
            Some(then) if then != now => Some(format!("Pod {name} was restarted")),
            Some(_) => None,
        });
        gone.chain(new).collect()
    }
}

fn is_of_olm(pod: &Pod) -> bool {
    let app = pod.labels().get("app").map(String::as_str).unwrap_or_default();
    let serves = pod.labels().contains_key(OF_A_CATALOG);
    pod.namespace().as_deref() == Some(OLM_NAMESPACE) && (serves || OF_OLM.contains(&app))
}

/// Its name; and its uid with the restarts of its containers.
fn identity(pod: &Pod) -> (String, String) {
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    let restarts: i32 = statuses.map(|status| status.restart_count).sum();
    let name = format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
    (name, format!("{} {restarts}", pod.uid().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pods(all: &[Value]) -> Pods {
        let parse = |value: &Value| serde_json::from_value::<Pod>(value.clone()).unwrap();
        Pods(
            all.iter().map(parse).filter(|pod| !is_of_olm(pod)).map(|pod| identity(&pod)).collect(),
        )
    }

    fn pod(name: &str, uid: &str, restarts: i32) -> Value {
        json!({"metadata": {"namespace": "n", "name": name, "uid": uid}, "status": {
            "containerStatuses": [{
                "name": "c", "image": "", "imageID": "", "ready": true, "restartCount": restarts,
            }],
        }})
    }

    #[test]
    fn every_kind_of_restart_is_reported() {
        let own = json!({"metadata": {"namespace": OLM_NAMESPACE, "name": "o", "labels": {"app": "olm-operator"}}});
        let before = pods(&[pod("a", "1", 0), pod("b", "2", 0), pod("c", "3", 0), own]);
        assert_eq!(before.count(), 3, "OLM's own Pods may stop");
        let after = pods(&[pod("a", "1", 0), pod("b", "2", 1), pod("d", "4", 0)]);
        assert_eq!(
            after.restarted_since(&before),
            ["Pod n/c is gone", "Pod n/b was restarted", "Pod n/d is new"]
        );
        assert!(before.restarted_since(&before).is_empty());
    }
}
