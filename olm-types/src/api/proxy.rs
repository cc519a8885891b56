//! Proxy of OpenShift: the cluster's way to the outside.
//!
//! Not a kind of OLM: read where the cluster has it, never written, and no definition of it is
//! generated.

use serde::{Deserialize, Serialize};

use super::kind::kind;

kind! {
    /// How the cluster reaches the outside. Only the one named `cluster` counts.
    pub struct Proxy: "config.openshift.io" / "v1", "proxies", ClusterResourceScope {
        spec: ProxySpec,
        status: ProxyStatus,
    }
}

/// What an administrator asked for. OpenShift checks it and copies it to the status, so nothing of
/// it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxySpec {}

/// What is in force; an empty text is no setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProxyStatus {
    /// URL of the proxy for HTTP.
    pub http_proxy: String,
    /// URL of the proxy for HTTPS.
    pub https_proxy: String,
    /// Comma-separated hosts, domains and networks that are reached without a proxy.
    pub no_proxy: String,
}
