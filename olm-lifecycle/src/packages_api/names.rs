//! Names around the packages API; v0's.

/// The APIService.
pub const API_SERVICE: &str = "v1.packages.operators.coreos.com";

/// The Service in front of the servers.
pub const SERVICE: &str = "packageserver-service";

/// The Secret with the certificate.
pub const SECRET: &str = "packageserver-service-cert";

/// Port of the Service and of the servers.
pub const PORT: u16 = 5443;

/// DNS names of the Service.
pub fn hosts(namespace: &str) -> Vec<String> {
    vec![format!("{SERVICE}.{namespace}"), format!("{SERVICE}.{namespace}.svc")]
}

/// The CSV by which v0 installs its package server, in the namespace of OLM.
pub const PREDECESSOR: &str = "packageserver";

/// The label of the Pods that serve the API; that of catalog-operator in `deploy/`.
pub(crate) const PODS: (&str, &str) = ("app", "catalog-operator");
