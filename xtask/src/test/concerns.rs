//! Which scenarios a changed file concerns: a table of places in the code and groups of scenarios.
//!
//! A group is what stands before `::` in a scenario's name. Of several places the longest counts. A
//! group that is concerned by nearly every change, such as `idle`, stands with the places that it is
//! really about; `cargo xtask test` plays everything.

use std::collections::BTreeSet;

/// A place, from the root of the checkout, and the groups of scenarios that are about it.
pub type Row = (&'static str, &'static [&'static str]);

/// Where scenarios of their own name live: a changed file concerns the group it is named after.
const SCENARIOS: [&str; 2] = ["olm-testkit/src/e2e/scenarios/", "olm-testkit/tests/scenarios/"];

/// The places. `cargo xtask tidy` looks whether every folder of the crates that ship has one, and
/// whether every group is named.
pub const CONCERNS: &[Row] = &[
    ("olm-types/src", &["install", "lifecycle", "schema"]),
    ("olm-types/src/api", &["api", "schema", "install"]),
    ("olm-types/src/hash", &["take_over", "install"]),
    ("olm-types/src/version", &["resolution", "upgrades"]),
    ("olm-types/src/bundle", &["resolution", "unpack"]),
    ("olm-types/src/properties", &["dependencies", "resolution"]),
    ("olm-effect/src", &["install", "lifecycle", "faults::mixed"]),
    ("olm-resolver/src", &["resolution", "dependencies", "upgrades"]),
    ("olm-opgroup/src", &["operator_groups", "tenancy", "escalation"]),
    ("olm-rbac/src", &["rbac", "tenancy", "escalation"]),
    ("olm-lifecycle/src", &["install", "lifecycle"]),
    ("olm-lifecycle/src/api_service", &["servers"]),
    (
        "olm-lifecycle/src/catalog_source",
        &["catalog_servers", "catalogs", "catalog_images", "tools"],
    ),
    ("olm-lifecycle/src/catalog_source/hosting", &["flags", "replicas", "hosted"]),
    ("olm-lifecycle/src/certificates", &["servers", "escalation"]),
    ("olm-lifecycle/src/copied_csv", &["operator_groups", "tenancy", "writes", "gitops"]),
    ("olm-lifecycle/src/crd", &["upgrades", "servers", "hostile::definitions"]),
    ("olm-lifecycle/src/csv", &["lifecycle", "alone"]),
    ("olm-lifecycle/src/csv/requirements", &["lifecycle", "recovery"]),
    ("olm-lifecycle/src/install", &["lifecycle", "install", "gitops"]),
    ("olm-lifecycle/src/install_plan", &["install_plans", "install", "approval", "uninstall"]),
    ("olm-lifecycle/src/labeller", &["related_objects", "side_by_side"]),
    ("olm-lifecycle/src/operator", &["related_objects", "tools", "writes", "escalation"]),
    ("olm-lifecycle/src/operator_condition", &["related_objects"]),
    ("olm-lifecycle/src/operator_group", &["operator_groups", "tenancy", "escalation"]),
    ("olm-lifecycle/src/operator_rights.rs", &["rbac", "tenancy"]),
    ("olm-lifecycle/src/packages_api", &["packages"]),
    ("olm-lifecycle/src/readiness", &["readiness", "subscriptions"]),
    ("olm-lifecycle/src/role_writes", &["rbac", "install_plans"]),
    ("olm-lifecycle/src/subscription", &["subscriptions", "approval", "gitops"]),
    ("olm-lifecycle/src/tenancy", &["tenancy", "escalation"]),
    ("olm-lifecycle/src/unpack", &["unpack", "escalation"]),
    ("olm-lifecycle/src/webhook", &["servers", "escalation"]),
    ("olm-catalog/src", &["catalogs", "catalog_servers", "real_registry"]),
    ("olm-catalog/src/copy", &["image_tools", "catalog_images"]),
    ("olm-catalog/src/image", &["unpack", "hostile", "flags"]),
    ("olm-catalog/src/packages", &["packages"]),
    ("olm-catalog/src/registry", &["catalogs", "catalog_servers", "real_registry", "hostile"]),
    ("olm-catalog/src/store", &["flags", "replicas", "hosted"]),
    ("olm-catalog/src/tools", &["image_tools", "catalog_images"]),
    ("olm-catalog/src/bundle", &["unpack", "hostile"]),
    ("olm-catalog/src/snapshot", &["resolution", "catalogs", "hostile"]),
    ("olm-kit/flags/src", &["deploy", "image_tools"]),
    ("olm-kit/tasks/src", &["catalogs", "hostile", "unpack"]),
    ("olm-kit/src", &["faults", "idle", "replicas"]),
    ("olm-kit/src/admin", &["deploy", "idle"]),
    ("olm-kit/src/aggregated", &["packages", "silence"]),
    ("olm-kit/src/certificates", &["servers", "deploy"]),
    ("olm-kit/src/controller", &["slow", "faults"]),
    ("olm-kit/src/interpreter", &["faults", "install_plans", "lifecycle", "writes", "conflicts"]),
    ("olm-kit/src/page.rs", &["upgrades", "hostile::definitions"]),
    ("olm-kit/pages/src", &["rolling::heavy_objects", "upgrades", "hostile::definitions"]),
    ("olm-kit/src/received.rs", &["rolling::heavy_objects", "rolling::nested_objects"]),
    ("olm-kit/src/watch", &["faults", "rolling::heavy_objects", "rolling::nested_objects"]),
    ("olm-kit/src/tls", &["rolling", "packages"]),
    ("olm-kit/src/typed", &["faults", "rolling::heavy_objects", "lifecycle"]),
    ("olm-lifecycle/src/cluster_operator", &["related_objects", "rolling"]),
    ("olm-kit/src/listen", &["packages", "deploy", "silence", "rolling"]),
    ("olm-kit/src/leader", &["replicas", "rolling", "flags"]),
    ("olm-operator/src", &["lifecycle", "operator_groups", "idle"]),
    (
        "olm-operator/src/controllers",
        &["lifecycle", "related_objects", "operator_groups", "writes"],
    ),
    ("catalog-operator/src", &["install", "subscriptions", "catalogs", "idle"]),
    ("catalog-operator/src/catalogs", &["catalogs", "recovery", "hostile", "slow"]),
    ("catalog-operator/src/controllers/catalog_source", &["catalogs", "catalog_servers"]),
    (
        "catalog-operator/src/controllers/install_plan",
        &["install_plans", "approval", "removal", "uninstall", "slow::conversion"],
    ),
    ("catalog-operator/src/controllers/resolution", &["resolution", "dependencies", "writes"]),
    ("catalog-operator/src/controllers/subscription", &["subscriptions", "bad_input"]),
    ("catalog-operator/src/hosting", &["flags", "replicas", "hosted"]),
    ("catalog-operator/src/packages", &["packages", "slow", "tools"]),
    ("catalog-operator/src/unpack", &["unpack", "slow"]),
    ("olm-plan/src", &["kubectl_olm"]),
    ("olm-plan/src/doctor", &["doctor", "kubectl_olm"]),
    ("olm-client/src", &["kubectl_olm"]),
    ("olm-client/src/examined", &["doctor", "kubectl_olm"]),
    ("olm-console/src", &["kubectl_olm::console", "console", "smoke::console"]),
    ("kubectl-olm/src", &["kubectl_olm"]),
    ("kubectl-olm/src/commands/doctor", &["doctor", "kubectl_olm"]),
    ("deploy", &["deploy", "rights", "smoke", "api", "memory"]),
    ("deploy/console", &["deploy", "smoke::console"]),
    ("deploy/policies", &["deploy", "approval"]),
];

/// Groups, or single scenarios, that files concern; nothing when it may be all of them.
pub(super) fn of(files: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for file in files {
        if let Some(own) = SCENARIOS.iter().find_map(|place| file.strip_prefix(place)) {
            let group = own.split(['/', '.']).next().unwrap_or(own);
            // What these share concerns all of them.
            let shared = ["main", "environment", "mod", "capacity"].contains(&group);
            found.insert(if shared { return None } else { group.to_owned() });
        } else if file.starts_with("olm-testkit/src/") || file == "Cargo.lock" {
            return None;
        } else {
            let rows = CONCERNS.iter().filter(|(place, _)| lies_in(file, place));
            let nearest = rows.max_by_key(|(place, _)| place.len());
            found.extend(
                nearest.into_iter().flat_map(|(_, groups)| *groups).map(ToString::to_string),
            );
        }
    }
    Some(found)
}

/// Whether a path is that of a place, or below it.
pub(crate) fn lies_in(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("olm-lifecycle/src/subscription/mod.rs", "approval gitops subscriptions")]
    #[case("olm-lifecycle/src/lib.rs", "install lifecycle")]
    #[case("olm-testkit/src/e2e/scenarios/upgrades/skips.rs", "upgrades")]
    #[case("olm-testkit/tests/scenarios/alone.rs", "alone")]
    #[case("README.md", "")]
    #[case("olm-testkit/src/wait.rs", "all")]
    fn the_nearest_place_counts(#[case] file: &str, #[case] expected: &str) {
        let found = of(&BTreeSet::from([file.to_owned()]));
        let found = found.map(|names| names.into_iter().collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref().unwrap_or("all"), expected);
    }

    #[test]
    fn a_place_is_no_part_of_a_name() {
        assert!(lies_in("olm-lifecycle/src/crd/mod.rs", "olm-lifecycle/src/crd"));
        assert!(!lies_in("olm-lifecycle/src/crds/mod.rs", "olm-lifecycle/src/crd"));
    }
}
