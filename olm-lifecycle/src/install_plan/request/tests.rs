//! The InstallPlan object: names, owners, generations, unfinished plans.

use olm_types::api::{StepResource, StepStatus};

use super::*;

fn subscription(name: &str) -> Arc<Subscription> {
    let mut subscription = Subscription::new(name, Default::default());
    subscription.metadata.namespace = Some("ns".to_owned());
    subscription.metadata.uid = Some(format!("uid-{name}"));
    Arc::new(subscription)
}

fn step(kind: &str, name: &str, source: &str) -> Step {
    let resource = StepResource {
        kind: kind.to_owned(),
        name: name.to_owned(),
        source_name: source.to_owned(),
        manifest: Some("{}\n".to_owned()),
        ..StepResource::default()
    };
    Step { resolving: name.to_owned(), resource, status: StepStatus::Unknown, ..Step::default() }
}

fn request(approval: Approval) -> PlanRequest {
    PlanRequest {
        namespace: "ns".to_owned(),
        generation: 3,
        approval,
        steps: vec![
            step("ClusterServiceVersion", "csv.v2", "src"),
            step("ClusterServiceVersion", "dep.v1", "other"),
            step("Subscription", "sub-dep", "src"),
        ],
        lookups: Vec::new(),
        owners: vec![subscription("a"), subscription("b")],
        present: vec!["uid-a".to_owned(), "uid-b".to_owned()],
        asked: None,
    }
}

#[test]
fn the_object_that_is_created() {
    insta::assert_json_snapshot!(request(Approval::Manual).object(&[]), @r#"
    {
      "apiVersion": "operators.coreos.com/v1alpha1",
      "kind": "InstallPlan",
      "metadata": {
        "generateName": "install-",
        "name": "install-cw78b",
        "namespace": "ns",
        "ownerReferences": [
          {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "blockOwnerDeletion": false,
            "controller": false,
            "kind": "Subscription",
            "name": "a",
            "uid": "uid-a"
          },
          {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "blockOwnerDeletion": false,
            "controller": false,
            "kind": "Subscription",
            "name": "b",
            "uid": "uid-b"
          }
        ]
      },
      "spec": {
        "clusterServiceVersionNames": [
          "csv.v2",
          "dep.v1"
        ],
        "approval": "Manual",
        "approved": false,
        "generation": 3
      }
    }
    "#);
}

#[test]
fn the_status_follows_the_approval() {
    let automatic = request(Approval::Automatic).status();
    assert_eq!(automatic.phase, InstallPlanPhase::Installing);
    assert_eq!(automatic.catalog_sources, ["other", "src"]);
    assert_eq!(automatic.plan.len(), 3);
    assert_eq!(request(Approval::Manual).status().phase, InstallPlanPhase::RequiresApproval);
    assert!(request(Approval::Automatic).object(&[]).spec.approved);
}

#[test]
fn a_lookup_for_a_csv_with_a_step_is_named_once() {
    let mut request = request(Approval::Automatic);
    request.lookups =
        vec![BundleLookup { identifier: "csv.v2".to_owned(), ..BundleLookup::default() }];
    assert_eq!(request.object(&[]).spec.cluster_service_version_names, ["csv.v2", "dep.v1"]);
}

fn stored(request: &PlanRequest, change: impl FnOnce(&mut InstallPlan)) -> Vec<Arc<InstallPlan>> {
    let mut plan = request.object(&[]);
    plan.metadata.name = Some("install-x".to_owned());
    change(&mut plan);
    vec![Arc::new(plan)]
}

#[test]
fn a_plan_of_the_same_generation_stands_for_the_request() {
    let request = request(Approval::Automatic);
    let plans = stored(&request, |plan| plan.status = Some(request.status()));
    assert!(request.existing(&plans).is_some());
}

#[test]
fn an_unfinished_plan_is_taken_up() {
    let wanted = request(Approval::Automatic);
    let unfinished = |change: &dyn Fn(&mut InstallPlan)| {
        let plans = stored(&wanted, |plan| {
            plan.spec.generation = Some(2);
            change(plan);
        });
        wanted.existing(&plans).is_some()
    };
    assert!(unfinished(&|_| {}));
    assert!(!unfinished(&|plan| plan.status = Some(wanted.status())));
    assert!(!unfinished(&|plan| plan.spec.cluster_service_version_names.clear()));
    assert!(!unfinished(&|plan| plan.spec.approval = Approval::Manual));
    assert!(!unfinished(&|plan| plan.metadata.owner_references = None));
    assert!(!unfinished(&|plan| plan.spec.generation = None));
}

/// The name says what was asked for, and nothing else: not what was chosen, nor who approves.
#[test]
fn the_name_follows_from_generation_and_subscriptions() {
    let wanted = request(Approval::Automatic);
    let name = |request: &PlanRequest| request.object(&[]).name_any();
    assert_eq!(
        name(&wanted),
        name(&PlanRequest { steps: Vec::new(), ..request(Approval::Manual) })
    );
    assert_ne!(name(&wanted), name(&PlanRequest { generation: 4, ..wanted.clone() }));
    assert_ne!(name(&wanted), name(&PlanRequest { present: Vec::new(), ..wanted.clone() }));
    let other_part = PlanRequest { owners: vec![subscription("b")], ..wanted.clone() };
    assert_eq!(name(&wanted), name(&other_part), "the API server refuses the second of a number");
    assert_eq!(name(&wanted).len(), "install-".len() + 5);
}

/// A plan that has the name already, whoever made it, does not stand in the way.
#[test]
fn a_name_that_is_taken_is_left_alone() {
    let wanted = request(Approval::Automatic);
    let mut names = BTreeSet::new();
    let mut plans = Vec::new();
    for _ in 0..20 {
        let plan = wanted.object(&plans);
        assert!(names.insert(plan.name_any()));
        plans.push(Arc::new(plan));
    }
}
