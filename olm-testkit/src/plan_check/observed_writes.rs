//! What was done, by the audit log of the API server: whoever did it but Kubernetes itself.

use std::collections::BTreeSet;

use crate::audit::Write;

/// Resources that Kubernetes makes by itself, or that say only what happened.
const OF_KUBERNETES: [&str; 13] = [
    "events",
    "leases",
    "pods",
    "replicasets",
    "endpoints",
    "endpointslices",
    "ipaddresses",
    "controllerrevisions",
    "installplans",
    "nodes",
    "csinodes",
    "serviceaccounttokens",
    "flowschemas",
];

/// Objects of the cluster that OLM v0 creates with a namespace in them.
const OF_THE_CLUSTER: [&str; 2] = ["clusterroles", "clusterrolebindings"];

/// Programs of Kubernetes whose writes follow from what others write. Its garbage collector deletes what was shown.
const KUBERNETES: [&str; 4] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];

/// The verb of a request that deletes all objects of a resource that a selector fits. The audit log does not name them.
const WHOLE_COLLECTION: &str = "deletecollection";

/// Objects that every new namespace has.
const OF_NAMESPACES: [&str; 2] = ["configmaps kube-root-ca.crt", "serviceaccounts default"];

/// What bundles in images are unpacked with, in the catalog's namespace: a plan shows what is in the bundle.
const OF_UNPACKING: [&str; 4] = ["configmaps", "jobs", "roles", "rolebindings"];

/// Their names have so many characters, as `olm_types::hash::unpack_name` gives them; the first of these are digits of a
/// hash, and a Job that follows another one has an end of its own.
const UNPACK_NAME: usize = 63;
const UNPACK_HASH: usize = 58;

/// Objects as `RESOURCE NAMESPACE/NAME`, by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedWrites {
    /// They are new, and there.
    pub created: BTreeSet<String>,
    /// They were there before, and were written.
    pub changed: BTreeSet<String>,
    /// They were there before, and are gone.
    pub deleted: BTreeSet<String>,
    /// Deleted, and made anew.
    pub replaced: BTreeSet<String>,
    /// Copies of CSVs that came and went, by namespace.
    pub copies: [usize; 2],
}

impl ObservedWrites {
    /// What these writes come to. `home` is the namespace of the step: CSVs elsewhere are copies.
    #[must_use]
    pub fn of(writes: &[Write], home: &str) -> Self {
        let (mut seen, mut passed) = (Self::default(), BTreeSet::new());
        for write in writes {
            let resource = write.resource();
            let is_status = resource.contains('/');
            let follows = is_of_kubernetes(write) && write.verb != "delete";
            if is_status || follows || is_passing(&write.object) || is_of_collection(write) {
                continue;
            }
            let is_copy = resource == "clusterserviceversions" && write.namespace != home;
            let object = object(write);
            match write.verb.as_str() {
                _ if is_copy && write.is_new => seen.copies[0] += 1,
                "delete" if is_copy => seen.copies[1] += 1,
                _ if is_copy => {}
                _ if write.is_new => {
                    passed.remove(&object);
                    seen.created.insert(object);
                }
                // Whoever deletes it once more, while a finalizer holds it, deletes nothing else.
                "delete" if passed.contains(&object) => {}
                "delete" if seen.created.remove(&object) => {
                    passed.insert(object);
                }
                "delete" => {
                    seen.deleted.insert(object);
                }
                _ if !seen.created.contains(&object) => {
                    seen.changed.insert(object);
                }
                _ => {}
            }
        }
        let Self { created, changed, deleted, replaced, .. } = &mut seen;
        changed.retain(|object| !deleted.contains(object));
        // What was created and then deleted is in neither.
        *replaced = created.intersection(deleted).cloned().collect();
        created.retain(|object| !replaced.contains(object));
        deleted.retain(|object| !replaced.contains(object));
        seen
    }

    /// What has gone with whole collections, of the objects that are `gone`.
    pub fn delete_collections(&mut self, writes: &[Write], gone: &BTreeSet<String>) {
        for write in writes.iter().filter(|write| is_of_collection(write)) {
            let of_it = gone.iter().filter(|object| object.starts_with(&write.object));
            self.deleted.extend(of_it.cloned());
        }
        self.changed.retain(|object| !self.deleted.contains(object));
    }
}

/// Whether a write deletes what its selector fits; Kubernetes does so in a namespace that goes.
#[must_use]
pub fn is_of_collection(write: &Write) -> bool {
    write.verb == WHOLE_COLLECTION && !is_of_kubernetes(write)
}

/// Whether a program of Kubernetes has written.
#[must_use]
pub fn is_of_kubernetes(write: &Write) -> bool {
    KUBERNETES.contains(&write.program.as_str())
}

/// The object; the audit log says of a Namespace that it is in itself, and of what is in none what its author says.
fn object(write: &Write) -> String {
    let name = || write.object.rsplit(['/', ' ']).next().unwrap_or_default();
    match write.resource() {
        "namespaces" => format!("namespaces {}", write.namespace),
        resource if OF_THE_CLUSTER.contains(&resource) => format!("{resource} {}", name()),
        _ => write.object.clone(),
    }
}

/// Whether an object comes and goes without an operator.
#[must_use]
pub fn is_passing(object: &str) -> bool {
    let (resource, name) = object.split_once(' ').unwrap_or((object, ""));
    let short = name.rsplit('/').next().unwrap_or_default();
    OF_KUBERNETES.contains(&resource)
        || OF_NAMESPACES.contains(&format!("{resource} {short}").as_str())
        || OF_UNPACKING.contains(&resource) && is_of_unpacking(short)
}

fn is_of_unpacking(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == UNPACK_NAME && name.bytes().take(UNPACK_HASH).all(is_digit)
}

#[cfg(test)]
mod tests {
    use olm_types::hash::unpack_name;

    use super::*;

    /// With `+` after its verb, of an object that was not there before.
    fn write(verb: &str, object: &str, namespace: &str) -> Write {
        let (is_new, namespace) = (verb == "create" || verb.ends_with('+'), namespace.to_owned());
        Write { is_new, namespace, ..Write::example("p", verb.trim_end_matches('+'), object) }
    }

    #[test]
    fn what_lasts_is_seen() {
        let writes = [
            write("create", "services ns/a", "ns"),
            write("patch", "services ns/a", "ns"),
            write("patch", "services ns/b", "ns"),
            write("patch+", "services ns/d", "ns"),
            write("patch", "services/status ns/c", "ns"),
            write("delete", "services ns/b", "ns"),
            write("delete", "deployments ns/d", "ns"),
            write("create", "deployments ns/d", "ns"),
            write("create", "roles ns/r", "ns"),
            write("delete", "roles ns/r", "ns"),
            write("delete", "roles ns/r", "ns"),
            write("update", "crds x", ""),
            write("create", "clusterroles ns/of-v0", "ns"),
            write("update", "clusterroles of-v0", ""),
            write("patch", "namespaces ns/ns", "ns"),
            write("create", "events ns/e", "ns"),
            write("create", "configmaps ns/kube-root-ca.crt", "ns"),
            write("create", "clusterserviceversions other/c", "other"),
            Write {
                program: "kube-apiserver".to_owned(),
                ..write("create", "apiservices v1.x", "")
            },
        ];
        let seen = ObservedWrites::of(&writes, "ns");
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        assert_eq!(seen.created, set(&["clusterroles of-v0", "services ns/a", "services ns/d"]));
        assert_eq!(seen.changed, set(&["crds x", "namespaces ns"]));
        assert_eq!(seen.deleted, set(&["services ns/b"]));
        assert_eq!(seen.replaced, set(&["deployments ns/d"]));
        assert_eq!(seen.copies, [1, 0]);
    }

    #[rstest::rstest]
    #[case::a_bundle("configmaps", &unpack_name("bundles.example.com/kettle:v1"), true)]
    #[case::another_job("jobs", &format!("{}-again", "a".repeat(UNPACK_HASH - 1)), false)]
    #[case::its_job("jobs", &format!("{}-gain", "a".repeat(UNPACK_HASH)), true)]
    #[case::another_kind("services", &unpack_name("i"), false)]
    #[case::another_name("configmaps", "kettle", false)]
    fn what_unpacks_bundles_passes(
        #[case] resource: &str,
        #[case] name: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(is_passing(&format!("{resource} ns/{name}")), expected, "{name}");
    }

    /// As v0 does with what only labels bind to a CSV.
    #[test]
    fn what_goes_with_a_collection_is_deleted() {
        let writes = [
            write("patch", "clusterroles a", ""),
            write("deletecollection", "clusterroles ", ""),
            Write {
                program: "kube-controller-manager".to_owned(),
                ..write("deletecollection", "roles ns/", "ns")
            },
        ];
        let set = |names: &[&str]| -> BTreeSet<String> {
            names.iter().map(ToString::to_string).collect()
        };
        let mut seen = ObservedWrites::of(&writes, "ns");
        assert_eq!((&seen.changed, &seen.deleted), (&set(&["clusterroles a"]), &set(&[])));
        let gone =
            set(&["clusterroles a", "clusterroles b", "clusterrolebindings a", "roles ns/r"]);
        seen.delete_collections(&writes, &gone);
        assert_eq!(seen.deleted, set(&["clusterroles a", "clusterroles b"]));
        assert_eq!(seen.changed, set(&[]));
    }
}
