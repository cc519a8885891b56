//! Previews: where an installation goes, how the result reads, and what a cluster without OLM is called.

mod applied;
mod describe;
mod suggested;

use anyhow::Result;
use olm_client::Cluster;
use olm_client::cluster::without_olm;
use olm_client::plan::on_cluster;
use olm_client::reading::Reading;
use olm_plan::preview::{Preview, PreviewRequest};

pub use applied::Applied;
pub use describe::describe;
pub use suggested::{Origin, TargetNamespace, installation, preview};

/// What would happen on a cluster.
///
/// # Errors
/// There is nothing to preview, Subscriptions cannot be read, or time runs out.
pub async fn in_cluster(
    cluster: &Cluster,
    asked: &PreviewRequest,
    reading: &Reading,
) -> Result<Preview> {
    on_cluster(cluster, asked, reading).await.map_err(named)
}

/// An error that says so where it is about Subscriptions: every other kind that is not there is noted as unknown.
fn named(error: anyhow::Error) -> anyhow::Error {
    let is_about_them = match error.downcast_ref() {
        Some(kube::Error::Api(status)) => {
            let kind = status.details.as_ref().map(|details| details.kind.as_str());
            status.code == 404 || kind == Some("subscriptions")
        }
        _ => false,
    };
    if is_about_them { without_olm(error) } else { error }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    #[rstest]
    #[case::no_olm(json!({"code": 404, "message": "404 page not found"}),
        "the cluster has no Subscriptions: OLM is not installed: ")]
    #[case::no_right(json!({"code": 403, "message": "no", "details": {"kind": "subscriptions"}}),
        "cannot read Subscriptions: ")]
    #[case::another(json!({"code": 503, "message": "no"}), "ApiError")]
    fn an_error_says_what_a_plan_begins_with(#[case] status: Value, #[case] expected: &str) {
        let status: Status = from_value(status).unwrap();
        let error = format!("{:#}", named(kube::Error::Api(status.boxed()).into()));
        assert!(error.starts_with(expected), "{error}");
    }
}
