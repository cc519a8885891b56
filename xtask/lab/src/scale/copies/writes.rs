//! What was written of copies, of the writes in the audit log.

use std::collections::BTreeSet;

use olm_testkit::audit::Write;

use crate::scale::measures::count;

/// The resources of a copy.
const OBJECT: &str = "clusterserviceversions";
const STATUS: &str = "clusterserviceversions/status";

/// How often a copy was written on average, its status included. CSVs in `origin` are originals; every other
/// namespace of the cluster has copies of them, so they are counted by their statuses.
pub(super) fn per_copy(writes: &[Write], origin: &str) -> f64 {
    let of_copies =
        |write: &&Write| write.namespace != origin && [OBJECT, STATUS].contains(&write.resource());
    let written: Vec<&Write> = writes.iter().filter(of_copies).collect();
    let statuses = written.iter().filter(|write| write.resource() == STATUS);
    let copies: BTreeSet<&str> = statuses.map(|write| write.object.as_str()).collect();
    count(written.len()) / count(copies.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(verb: &str, resource: &str, namespace: &str) -> Write {
        Write::example("olm-operator", verb, &format!("{resource} {namespace}/watchman"))
    }

    #[test]
    fn copies_alone_are_counted() {
        let mut writes: Vec<Write> = ["a", "b"]
            .iter()
            .flat_map(|home| [write("create", OBJECT, home), write("update", STATUS, home)])
            .collect();
        writes.push(write("update", STATUS, "origin"));
        writes.push(write("create", "deployments", "origin"));
        assert!((per_copy(&writes, "origin") - 2.0).abs() < f64::EPSILON);
        writes.push(write("update", STATUS, "a"));
        assert!((per_copy(&writes, "origin") - 2.5).abs() < f64::EPSILON, "one was written again");
    }
}
