//! What older versions of OLM left behind an API: spec olm-operator 3.7, item 6.

use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::NS;
use super::servers::{become_available, installed, set_phase};
use super::world::World;

/// Kind and name of everything that an old version made for `v1.a.g`.
const LEGACY: [(&str, &str); 6] = [
    ("Service", "v1-a-g"),
    ("Secret", "v1.a.g-cert"),
    ("Role", "v1.a.g-cert"),
    ("RoleBinding", "v1.a.g-cert"),
    ("ClusterRoleBinding", "v1.a.g-system:auth-delegator"),
    ("RoleBinding", "v1.a.g-auth-reader"),
];

/// A world with an installed API and the objects of an old version, about to be installed again.
fn mk_world(owner: &str, namespace: &str) -> World {
    let mut world = installed();
    for (kind, name) in LEGACY {
        let mut object: Value = json!({
            "kind": kind,
            "metadata": {"name": name, "uid": name, "labels": {
                "olm.owner": owner, "olm.owner.namespace": namespace,
                "olm.owner.kind": "ClusterServiceVersion",
            }},
        });
        if kind.ends_with("Binding") {
            object["roleRef"] = json!({"apiGroup": "", "kind": "Role", "name": "r"});
        }
        world.put(object);
    }
    set_phase(&mut world, "InstallReady");
    world
}

fn left(world: &World) -> usize {
    LEGACY.iter().filter(|(kind, name)| world.get(kind, name).is_some()).count()
}

#[test]
fn objects_under_old_names_go_with_the_next_install() {
    let mut world = mk_world("csv", NS);
    assert!(world.next("csv").starts_with("Installing/InstallSucceeded"));
    assert_eq!(left(&world), 0);
    become_available(&mut world);
    assert!(world.next("csv").starts_with("Succeeded/"), "what is in use stays");
}

#[rstest]
#[case::of_another_csv("other", NS)]
#[case::of_another_namespace("csv", "elsewhere")]
fn those_of_others_stay(#[case] owner: &str, #[case] namespace: &str) {
    let mut world = mk_world(owner, namespace);
    assert!(world.next("csv").starts_with("Installing/InstallSucceeded"));
    assert_eq!(left(&world), LEGACY.len());
}

#[test]
fn a_deployment_whose_new_names_are_the_old_ones_loses_nothing() {
    let mut world = mk_world("csv", NS);
    world.edit("ClusterServiceVersion", "csv", |csv| {
        let api = &mut csv["spec"]["apiservicedefinitions"]["owned"][0];
        api["group"] = json!("service");
        api["version"] = json!("csv-dep");
    });
    let mut observed = world.observe("csv");
    observed.csv = std::sync::Arc::new({
        let mut csv = observed.csv.as_ref().clone();
        let name = Some("csv-dep".to_owned());
        csv.spec.apiservicedefinitions.as_mut().unwrap().owned[0].deployment_name = name;
        csv
    });
    assert_eq!(
        crate::api_service::legacy(&observed.serving_csv()),
        Ok(Vec::new()),
        "nothing is looked for"
    );
}
