//! The NetworkPolicies of a catalog: one for its server, one for the Pods that unpack its bundles.

use std::collections::BTreeMap;

use k8s_openapi::api::networking::v1::{
    NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPort,
    NetworkPolicySpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube_core::ResourceExt;
use olm_types::api::CatalogSource;
use olm_types::labels;

use super::{PORT, catalog_labels, metadata, plain_owner};

/// Ports on which name servers are asked, in v0's order.
const DNS: [(&str, u16); 4] = [("TCP", 53), ("UDP", 53), ("TCP", 5353), ("UDP", 5353)];

/// What a registry server may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Egress {
    /// Nothing: its catalog is in its image.
    None,
    /// The API server, whose address is not known beforehand, and name servers.
    ApiServer,
}

/// The policy of the server, whose Pod has `pod_labels`, and that of Pods that unpack.
pub(super) fn both(
    catalog: &CatalogSource,
    pod_labels: &BTreeMap<String, String>,
    egress: Egress,
) -> [NetworkPolicy; 2] {
    let server = NetworkPolicySpec {
        pod_selector: Some(LabelSelector {
            match_labels: Some(pod_labels.clone()),
            ..LabelSelector::default()
        }),
        policy_types: Some(both_ways()),
        ingress: Some(vec![NetworkPolicyIngressRule {
            ports: Some(vec![port("TCP", PORT)]),
            ..NetworkPolicyIngressRule::default()
        }]),
        egress: (egress == Egress::ApiServer).then(to_api_server),
    };
    let unpack = NetworkPolicySpec {
        pod_selector: Some(unpack_pods()),
        policy_types: Some(both_ways()),
        egress: Some(to_api_server()),
        ingress: None,
    };
    [policy(catalog, "grpc-server", server), policy(catalog, "unpack-bundles", unpack)]
}

fn policy(catalog: &CatalogSource, end: &str, spec: NetworkPolicySpec) -> NetworkPolicy {
    let name = format!("{}-{end}", catalog.name_any());
    let metadata = metadata(catalog, &name, catalog_labels(catalog), plain_owner(catalog));
    NetworkPolicy { metadata, spec: Some(spec) }
}

fn unpack_pods() -> LabelSelector {
    let requirement = |key: &str, operator: &str, values: Option<Vec<String>>| {
        LabelSelectorRequirement { key: key.to_owned(), operator: operator.to_owned(), values }
    };
    LabelSelector {
        match_expressions: Some(vec![
            requirement(labels::BUNDLE_UNPACK_REF, "Exists", None),
            requirement(labels::MANAGED, "In", Some(vec![labels::MANAGED_VALUE.to_owned()])),
        ]),
        ..LabelSelector::default()
    }
}

fn both_ways() -> Vec<String> {
    vec!["Ingress".to_owned(), "Egress".to_owned()]
}

/// The first rule allows everything, so the second says nothing more; v0 has both.
fn to_api_server() -> Vec<NetworkPolicyEgressRule> {
    let dns = DNS.map(|(protocol, number)| port(protocol, number));
    vec![
        NetworkPolicyEgressRule::default(),
        NetworkPolicyEgressRule { ports: Some(dns.to_vec()), to: None },
    ]
}

fn port(protocol: &str, number: u16) -> NetworkPolicyPort {
    NetworkPolicyPort {
        protocol: Some(protocol.to_owned()),
        port: Some(IntOrString::Int(i32::from(number))),
        ..NetworkPolicyPort::default()
    }
}
