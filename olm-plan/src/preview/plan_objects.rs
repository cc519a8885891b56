//! Objects that InstallPlans brought for what is installed: those of kinds that are not read anyway are asked for,
//! as they go with the CSV that owns them.

use std::collections::BTreeSet;

use olm_effect::Target;
use olm_lifecycle::install_plan::execution::Served;
use olm_lifecycle::install_plan::steps::object_kind;
use olm_types::api::{InstallPlan, Step};
use olm_types::gvk::Gvk;

use super::forward::own_csvs;
use super::world::World;
use crate::observed::name;

/// Kinds of objects that are read anyway, or that no CSV owns.
const READ: [(&str, &str); 10] = [
    ("", "Service"),
    ("", "ServiceAccount"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apps", "Deployment"),
    ("operators.coreos.com", "ClusterServiceVersion"),
    ("operators.coreos.com", "Subscription"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
];

/// Asks for what the CSVs of a namespace may own beside the kinds that are listed: ConfigMaps, Secrets and others.
pub(super) fn ask(world: &mut World<'_>, home: &str) {
    let csvs = own_csvs(world, home);
    let csvs: BTreeSet<&str> = csvs.iter().map(|csv| name(&csv.metadata)).collect();
    let plans: Vec<InstallPlan> = world.typed(InstallPlan::KIND, Some(home));
    let steps = plans.iter().flat_map(|plan| &plan.status).flat_map(|status| &status.plan);
    let theirs = steps.filter(|step| csvs.contains(&*step.resolving));
    let objects: BTreeSet<(Gvk, &str)> = theirs.filter_map(object).collect();
    for (kind, name) in objects {
        if let Served::Kind { resource, namespaced: true } = world.kind(&kind)
            && !resource.plural.is_empty()
        {
            world.live(&Target::namespaced(resource, home, name));
        }
    }
}

fn object(step: &Step) -> Option<(Gvk, &str)> {
    let resource = &step.resource;
    let kind = object_kind(resource);
    let is_read = READ.contains(&(&kind.group, &kind.kind)) || resource.name.is_empty();
    (!is_read).then_some((kind, resource.name.as_str()))
}

#[cfg(test)]
mod tests {
    use olm_effect::Resource;
    use serde_json::{Value, json};

    use super::super::known::{Known, ReadRequest};
    use super::*;

    fn csv(name: &str, labels: Value) -> Value {
        json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": {"name": name, "namespace": "ns", "labels": labels}, "spec": {}})
    }

    fn plan(csv: &str, objects: &[[&str; 3]]) -> Value {
        let steps = objects.iter().map(|[group, kind, name]| {
            json!({"resolving": csv, "status": "Created",
                "resource": {"group": group, "version": "v1", "kind": kind, "name": name}})
        });
        json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
            "metadata": {"name": csv, "namespace": "ns"},
            "spec": {}, "status": {"plan": steps.collect::<Vec<_>>()}})
    }

    #[test]
    fn objects_of_what_is_installed_are_asked_for_once() {
        let mut known = Known::default();
        let all = [
            csv("a", json!({})),
            csv("copied", json!({"olm.copiedFrom": "other"})),
            plan(
                "a",
                &[
                    ["x.io", "Kettle", "k"],
                    ["", "ConfigMap", "c"],
                    ["", "Service", "s"],
                    ["", "BundleSecret", "of-the-bundle"],
                    ["", "ConfigMap", "c"],
                ],
            ),
            plan("copied", &[["", "ConfigMap", "of-a-copy"]]),
            plan("gone", &[["", "ConfigMap", "of-another"]]),
        ];
        all.into_iter().for_each(|object| known.add(object));
        let core = |kind: &str, plural: &str| Resource::new("", "v1", kind, plural);
        let read = [core("ConfigMap", "configmaps"), core("Secret", "secrets")];
        for resource in &read {
            let (resource, kind) = (resource.clone(), Gvk::new("", "v1", &*resource.kind));
            known.kinds.insert(kind, Served::Kind { resource, namespaced: true });
        }
        let mut world = World::new(&known);
        ask(&mut world, "ns");
        let needs = world.needs.as_slice();
        let [ReadRequest::Object(config), ReadRequest::Object(secret), ReadRequest::Kind(kind)] =
            needs
        else {
            panic!("{needs:?}")
        };
        let [maps, secrets] = read;
        assert_eq!(*config, Target::namespaced(maps, "ns", "c"));
        assert_eq!(*secret, Target::namespaced(secrets, "ns", "of-the-bundle"));
        assert_eq!(kind.kind, "Kettle");
    }
}
