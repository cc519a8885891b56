//! The variables by which programs find the cluster's proxy.

use olm_types::api::ProxyStatus;
use serde_json::{Value, json};

const HTTP: &str = "HTTP_PROXY";
const HTTPS: &str = "HTTPS_PROXY";
const NONE: &str = "NO_PROXY";

/// The cluster's proxy; all empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxySettings {
    /// URL for HTTP.
    pub http: String,
    /// URL for HTTPS.
    pub https: String,
    /// What is reached without a proxy.
    pub none: String,
}

impl ProxySettings {
    /// The variables that are set, in v0's order.
    pub fn variables(&self) -> Vec<Value> {
        [(HTTP, &self.http), (HTTPS, &self.https), (NONE, &self.none)]
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect()
    }
}

impl From<&ProxyStatus> for ProxySettings {
    fn from(status: &ProxyStatus) -> Self {
        Self {
            http: status.http_proxy.clone(),
            https: status.https_proxy.clone(),
            none: status.no_proxy.clone(),
        }
    }
}

/// Whether variables set any of the proxy's, in which case it is not used. Names are compared with
/// their case.
pub(super) fn is_overridden(variables: &[Value]) -> bool {
    let names = variables.iter().filter_map(|variable| variable.get("name")?.as_str());
    names.into_iter().any(|name| [HTTP, HTTPS, NONE].contains(&name))
}
