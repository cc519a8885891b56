//! The proxy of the cluster, where it has one.

use olm_kit::discovery::{ApiKinds, DiscoveryError};
use olm_lifecycle::install::ProxySettings;
use olm_types::api::Proxy;

use crate::stores::Stores;

/// Name of the only object that counts.
const NAME: &str = "cluster";

/// Whether the cluster knows the kind.
///
/// # Errors
/// When the API server cannot be asked.
pub async fn is_known(kinds: &ApiKinds) -> Result<bool, DiscoveryError> {
    let (group, version) = Proxy::API_VERSION.split_once('/').unwrap_or_default();
    Ok(kinds.resolve(group, version, Proxy::KIND).await?.is_some())
}

/// What is in force.
pub fn settings(stores: &Stores) -> ProxySettings {
    let proxy = stores.proxies.get(None, NAME);
    let status = proxy.as_ref().and_then(|proxy| proxy.status.as_ref());
    status.map(ProxySettings::from).unwrap_or_default()
}
