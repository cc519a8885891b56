//! What lets an operator go on: an InstallPlan is approved, with the version that was looked at as a part of the
//! write, or a Subscription follows another channel.

use anyhow::{Context, Result};
use kube::api::{Api, Patch};
use olm_types::api::{InstallPlan, Subscription};
use serde_json::json;

use super::Writing;
use crate::cluster::Cluster;

/// An InstallPlan as it was looked at.
#[derive(Clone, Copy, Debug)]
pub struct ReviewedPlan<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The version of the object.
    pub resource_version: &'a str,
}

/// Approves a plan: false when there is a newer version of it, which was not looked at.
///
/// # Errors
/// The API server refuses it, or does not answer.
pub async fn approve(cluster: &Cluster, plan: ReviewedPlan<'_>, how: Writing<'_>) -> Result<bool> {
    let ReviewedPlan { namespace, name, resource_version } = plan;
    let patch = Patch::Merge(json!({
        "metadata": {"resourceVersion": resource_version},
        "spec": {"approved": true},
    }));
    let api = cluster.api::<InstallPlan>(Some(namespace));
    match cluster.answer(api.patch(name, &how.patch(), &patch)).await {
        Ok(_) => Ok(true),
        Err(error) if is_conflict(&error) => Ok(false),
        Err(error) => Err(error.context(format!("cannot approve InstallPlan {name}"))),
    }
}

/// Lets a Subscription follow another channel.
///
/// # Errors
/// The API server refuses it, or does not answer.
pub async fn follow_channel(
    cluster: &Cluster,
    (namespace, name): (&str, &str),
    channel: &str,
    how: Writing<'_>,
) -> Result<()> {
    let patch = Patch::Merge(json!({"spec": {"channel": channel}}));
    let api: Api<Subscription> = cluster.api(Some(namespace));
    let written = cluster.answer(api.patch(name, &how.patch(), &patch)).await;
    written.map(drop).with_context(|| format!("cannot change Subscription {name}"))
}

fn is_conflict(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(kube::Error::Api(status)) if status.is_conflict())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use http::{Request, Response};
    use http_body_util::BodyExt;
    use kube::Client;
    use kube::client::Body;
    use serde_json::Value;

    use super::*;
    use crate::stub;

    /// A cluster whose API server has this for every write, and what it is sent.
    fn cluster(code: u16) -> (Cluster, Receiver<(String, Value)>) {
        let (sender, sent) = channel();
        let service = tower::service_fn(move |request: Request<Body>| {
            let sender = sender.clone();
            async move {
                let address = request.uri().to_string();
                let body = request.into_body().collect().await.unwrap().to_bytes();
                sender.send((address, serde_json::from_slice(&body).unwrap())).unwrap();
                Ok::<_, std::io::Error>(
                    Response::builder().status(code).body(Body::from(answer(code))).unwrap(),
                )
            }
        });
        let client = Client::new(service, "ns");
        (Cluster { client, ..stub::cluster(|_| None) }, sent)
    }

    fn answer(code: u16) -> Vec<u8> {
        let object = match code {
            200 => json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
                "metadata": {"name": "p", "namespace": "ns"},
                "spec": {"approval": "Manual", "approved": true, "clusterServiceVersionNames": []}}),
            _ => json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "reason": if code == 409 { "Conflict" } else { "Forbidden" }, "message": "no",
                "code": code}),
        };
        object.to_string().into_bytes()
    }

    fn how(dry_run: bool) -> Writing<'static> {
        Writing { manager: "m", dry_run }
    }

    const SHOWN: ReviewedPlan<'_> =
        ReviewedPlan { namespace: "ns", name: "p", resource_version: "7" };

    #[tokio::test]
    async fn an_approval_names_the_version_that_was_looked_at() {
        let (cluster, sent) = cluster(200);
        assert!(approve(&cluster, SHOWN, how(false)).await.unwrap());
        let (address, body) = sent.recv().unwrap();
        assert!(address.contains("/namespaces/ns/installplans/p?"), "{address}");
        assert!(!address.contains("dryRun"), "{address}");
        let expected = json!({"metadata": {"resourceVersion": "7"}, "spec": {"approved": true}});
        assert_eq!(body, expected);
        assert!(approve(&cluster, SHOWN, how(true)).await.unwrap());
        assert!(sent.recv().unwrap().0.contains("dryRun=All"), "it is only asked as if");
    }

    #[tokio::test]
    async fn a_newer_version_is_not_approved_and_a_refusal_is_an_error() {
        let (changed, _sent) = cluster(409);
        assert!(!approve(&changed, SHOWN, how(false)).await.unwrap());
        let (refuses, _sent) = cluster(403);
        let error = approve(&refuses, SHOWN, how(false)).await.unwrap_err();
        assert!(error.to_string().contains("cannot approve InstallPlan p"), "{error}");
    }
}
