//! Which writes a take-over needs.

use std::collections::BTreeMap;

use super::PACKAGE_SERVER;
use crate::audit::Write;

/// What names v0's package server: its own objects, those of its API, and the OperatorGroup that it
/// was a member of, with the list of the group's APIs and roles.
const OF_THE_PACKAGE_SERVER: [&str; 3] =
    [PACKAGE_SERVER, "packages.operators.coreos.com", "olm-operators"];

/// What ours brings up to date once, because v0 leaves it wrong (docs/differences.md), or because it
/// says who did something last.
const REPAIRED: [&str; 6] = [
    // When the operator connected.
    CATALOG,
    // Owners of the roles of an API: v0 spells their kind so that no garbage collector finds them.
    "clusterroles ",
    // Requirements are those of the last failure.
    "clusterserviceversions/status ",
    OPERATOR,
    // The Pod of a catalog in OLM's namespace, whose Pod security changes with the manifests.
    "pods operator-lifecycle-manager/",
    // A generated one stays InstallPlanPending after its plan is done.
    SUBSCRIPTION,
];

/// Subscriptions show the health of catalogs, so they follow each change of one.
const SUBSCRIPTION: &str = "subscriptions/status ";

/// Status of catalogs.
const CATALOG: &str = "catalogsources/status ";

/// Operators show the times of what they consist of, so they follow the repair of each of that.
const OPERATOR: &str = "operators/status ";

/// How often another object is repaired at most; what is repaired follows other repairs.
const TWICE: usize = 2;

/// The writes that are not needed: those that have nothing to do with v0's package server and
/// repair nothing, and those of objects that were written again and again.
pub fn needless(writes: &[Write]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for write in writes {
        *counts.entry(&write.object).or_default() += 1;
    }
    let is_repair = |object: &str| REPAIRED.iter().any(|repaired| object.starts_with(repaired));
    let of_catalogs = writes.iter().filter(|write| write.object.starts_with(CATALOG)).count();
    let is_followed = |object: &str| is_repair(object) && !object.starts_with(OPERATOR);
    let followed = writes.iter().filter(|write| is_followed(&write.object)).count();
    let is_needless = |write: &&Write| {
        let object = write.object.as_str();
        let is_repair = is_repair(object);
        let most = match object {
            _ if object.starts_with(OPERATOR) => 1 + followed,
            _ if object.starts_with(SUBSCRIPTION) => TWICE + of_catalogs,
            _ => TWICE,
        };
        let is_repeated = counts.get(object).is_some_and(|count| *count > most);
        let is_of_the_package_server =
            OF_THE_PACKAGE_SERVER.iter().any(|mark| object.contains(mark));
        !is_of_the_package_server && (!is_repair || is_repeated)
    };
    writes.iter().filter(is_needless).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_repaired_or_repeated_is_needless() {
        let write = |verb: &str, object: &str| Write::example("p", verb, object);
        let good = [
            write("delete", "clusterserviceversions n/packageserver"),
            write("update", "clusterserviceversions/status n/a"),
            write("update", "clusterserviceversions/status n/a"),
        ];
        assert!(needless(&good).is_empty());
        let status = |object: &str| write("update", &format!("{object}/status n"));
        let follows = ["subscriptions", "operators", "operators", "operators"].map(status);
        assert_eq!(needless(&follows).len(), 3, "one repair is followed once");
        assert!(needless(&follows[..3]).is_empty());
        let bad = [
            write("update", "deployments n/a"),
            write("update", "clusterserviceversions n/a"),
            write("update", "subscriptions/status n/a"),
            write("update", "subscriptions/status n/a"),
            write("update", "subscriptions/status n/a"),
        ];
        assert_eq!(needless(&bad).len(), bad.len());
    }
}
