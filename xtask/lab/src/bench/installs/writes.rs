//! What was written for installs, of the writes in the audit log.

use std::collections::BTreeMap;

use olm_testkit::audit::Write;

/// What a plan or an install makes, and should make whole.
const WHOLE: [&str; 9] = [
    "clusterrolebindings",
    "clusterroles",
    "configmaps",
    "deployments",
    "rolebindings",
    "roles",
    "secrets",
    "serviceaccounts",
    "services",
];

/// The start of the names of an OperatorGroup's roles, which follow the APIs of its members.
const GROUP_ROLES: &str = "clusterroles olm.og.";

/// What the node and the control plane write whatever happens.
const HEARTBEATS: [&str; 2] = ["leases", "nodes/status"];

/// Figures of the writes of an install.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Writes {
    /// Of all callers.
    pub(super) all: usize,
    /// Of both operators.
    pub(super) own: usize,
    /// Of statuses of copied CSVs.
    pub(super) copies: Statuses,
    /// Of statuses of CSVs.
    pub(super) csvs: Statuses,
    /// Of statuses of Operators.
    pub(super) operators: Statuses,
    /// Requests of both operators that were refused with status 409.
    pub(super) conflicts: usize,
    /// Of CRDs, after they were created.
    pub(super) definitions_again: usize,
    /// Of other objects that an install makes, after they were created.
    pub(super) objects_again: usize,
}

/// How often statuses of a kind were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Statuses {
    /// In all.
    pub(super) writes: usize,
    /// Of so many objects.
    pub(super) objects: usize,
    /// Most for one object.
    pub(super) most: usize,
}

impl Writes {
    /// Counts the writes of all callers; `programs` are the operators, `namespace` is theirs.
    pub(super) fn of(
        writes: &[Write],
        programs: &[&str],
        namespace: &str,
        conflicts: usize,
    ) -> Self {
        let own: Vec<&Write> =
            writes.iter().filter(|write| programs.contains(&write.program.as_str())).collect();
        let csvs = |copies: bool| {
            let wanted = |write: &&&Write| {
                write.resource() == "clusterserviceversions/status"
                    && copies == (write.namespace != namespace)
            };
            Statuses::of(own.iter().filter(wanted).map(|write| write.object.as_str()))
        };
        let operators = own.iter().filter(|write| write.resource() == "operators/status");
        let again = |wanted: &dyn Fn(&Write) -> bool| {
            own.iter().filter(|write| is_again(write) && wanted(write)).count()
        };
        Self {
            all: writes.len(),
            own: own.len(),
            copies: csvs(true),
            csvs: csvs(false),
            operators: Statuses::of(operators.map(|write| write.object.as_str())),
            conflicts,
            definitions_again: again(&|write| write.resource() == "customresourcedefinitions"),
            objects_again: again(&|write| {
                WHOLE.contains(&write.resource()) && !write.object.starts_with(GROUP_ROLES)
            }),
        }
    }
}

impl Statuses {
    fn of<'a>(objects: impl Iterator<Item = &'a str>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        objects.for_each(|object| *counts.entry(object).or_default() += 1);
        Self {
            writes: counts.values().sum(),
            objects: counts.len(),
            most: counts.values().copied().max().unwrap_or_default(),
        }
    }
}

fn is_again(write: &Write) -> bool {
    matches!(write.verb.as_str(), "update" | "patch")
}

/// Whether a write has to do with what happens in a cluster, and is no heartbeat.
pub(super) fn is_counted(write: &Write) -> bool {
    !HEARTBEATS.contains(&write.resource())
}

/// Whether a line of a log says that a bundle was chosen for a Subscription.
pub(super) fn is_resolved(line: &str) -> bool {
    line.contains("resolved") && line.contains("wanted_by")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_write_is_counted_where_it_belongs() {
        let csv = "clusterserviceversions/status";
        let writes = [
            Write::example("olm", "update", &format!("{csv} operators/a")),
            Write::example("olm", "update", &format!("{csv} operators/a")),
            Write::example("olm", "update", &format!("{csv} operators/b")),
            Write::example("olm", "patch", &format!("{csv} elsewhere/a")),
            Write::example("olm", "update", "operators/status a.operators"),
            Write::example("olm", "create", "customresourcedefinitions a"),
            Write::example("olm", "update", "customresourcedefinitions a"),
            Write::example("kube-apiserver", "update", "customresourcedefinitions/status a"),
            Write::example("olm", "patch", "deployments operators/a"),
            Write::example("olm", "update", "clusterroles olm.og.global.admin-1"),
            Write::example("olm", "create", "clusterroles a"),
            Write::example("kube-controller-manager", "update", "clusterroles admin"),
        ];
        let found = Writes::of(&writes, &["olm", "catalog"], "operators", 7);
        let statuses = |writes, objects, most| Statuses { writes, objects, most };
        assert_eq!(
            found,
            Writes {
                all: 12,
                own: 10,
                copies: statuses(1, 1, 1),
                csvs: statuses(3, 2, 2),
                operators: statuses(1, 1, 1),
                conflicts: 7,
                definitions_again: 1,
                objects_again: 1,
            }
        );
    }

    #[test]
    fn heartbeats_are_left_out() {
        assert!(is_counted(&Write::example("kwok", "patch", "pods/status operators/a")));
        assert!(!is_counted(&Write::example("kwok", "patch", "nodes/status simulated")));
        assert!(!is_counted(&Write::example("kwok", "update", "leases kube-node-lease/simulated")));
    }

    #[test]
    fn lines_about_what_was_chosen_are_known() {
        assert!(is_resolved("INFO resolved bundle=a.v1 wanted_by=a"));
        assert!(!is_resolved("INFO resolved nothing"));
    }
}
