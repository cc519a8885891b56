//! The APIs that CSVs provide, and the annotation `olm.providedAPIs` of a group.

use std::collections::BTreeSet;

use olm_types::annotations;
use olm_types::api::{ClusterServiceVersionSpec, OperatorGroup};
use olm_types::gvk::{CrdName, Gvk, parse_api_keys};

/// A set of APIs, in a fixed order.
pub type ApiSet = BTreeSet<Gvk>;

/// The APIs that a CSV owns: through CustomResourceDefinitions and through API services.
/// A CustomResourceDefinition whose name has no group is left out.
pub fn provided_apis(spec: &ClusterServiceVersionSpec) -> ApiSet {
    let crds = spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
    let services = spec.apiservicedefinitions.iter().flat_map(|services| &services.owned);
    let of_crds = crds.filter_map(|crd| {
        let name = CrdName::parse(&crd.name).ok()?;
        Some(Gvk::new(name.group, &crd.version, &crd.kind))
    });
    let of_services =
        services.map(|service| Gvk::new(&service.group, &service.version, &service.kind));
    of_crds.chain(of_services).collect()
}

/// The APIs that a group's annotation lists.
pub fn group_apis(group: &OperatorGroup) -> ApiSet {
    let text = group.metadata.annotations.as_ref();
    text.and_then(|all| all.get(annotations::PROVIDED_APIS))
        .map(|text| parse_api_keys(text))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use olm_types::gvk::format_api_keys;
    use serde_json::json;

    #[test]
    fn a_csv_provides_what_it_owns() {
        let spec: ClusterServiceVersionSpec = serde_json::from_value(json!({
            "customresourcedefinitions": {
                "owned": [
                    {"name": "c1s.g1.io", "version": "v1", "kind": "C1"},
                    {"name": "nodot", "version": "v1", "kind": "C2"},
                ],
                "required": [{"name": "r1s.g1.io", "version": "v1", "kind": "R1"}],
            },
            "apiservicedefinitions": {
                "owned": [{"name": "a1s", "group": "a.io", "version": "v2", "kind": "A1"}],
            },
        }))
        .unwrap();
        assert_eq!(format_api_keys(&provided_apis(&spec)), "A1.v2.a.io,C1.v1.g1.io");
    }
}
