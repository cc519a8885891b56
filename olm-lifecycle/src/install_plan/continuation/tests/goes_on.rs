//! Between two calls of an execution: whether what was judged still holds.

use super::*;

fn before(point: Point) -> Observed {
    let (plan, around) = after(&[], point, false);
    Observed {
        plan: Arc::new(plan),
        siblings: Vec::new(),
        around,
        groups: vec![group("g")],
        csvs: BTreeSet::new(),
        replaced: BTreeSet::new(),
        crd_owners: Default::default(),
        guarded: BTreeSet::new(),
        rights_changed: false,
        operator_namespace: "olm".to_owned(),
        retry_timeout: std::time::Duration::from_secs(60),
        trust: crate::tenancy::StepTrust::All,
        keeps_stored_versions: false,
    }
}

fn group(uid: &str) -> Arc<OperatorGroup> {
    Arc::new(parse(&json!({"metadata": {"name": "g", "namespace": "ns", "uid": uid}, "spec": {}})))
}

/// What changes in the middle of an execution.
#[rstest]
#[case::nothing(|_: &mut CurrentObjects| (), true)]
#[case::its_csv_was_made(|now: &mut CurrentObjects| now.around.csvs.push(Arc::new(parse(&csv(NEW, OLD)))), true)]
#[case::the_plan_is_gone(|now: &mut CurrentObjects| now.plan = None, false)]
#[case::another_plan(|now: &mut CurrentObjects| edit(now).metadata.uid = Some("other".to_owned()), false)]
#[case::its_owners_are_gone(|now: &mut CurrentObjects| edit(now).metadata.owner_references = None, true)]
#[case::the_subscription_is_gone(|now: &mut CurrentObjects| now.around.subscriptions.clear(), false)]
#[case::the_old_csv_is_gone(|now: &mut CurrentObjects| now.around.csvs.clear(), false)]
#[case::the_namespace_goes(|now: &mut CurrentObjects| now.around.namespace_goes = true, false)]
#[case::the_group_is_gone(|now: &mut CurrentObjects| now.groups.clear(), false)]
#[case::another_group(|now: &mut CurrentObjects| now.groups = vec![group("h")], false)]
fn an_execution_goes_on_while_nothing_changes(
    #[case] change: fn(&mut CurrentObjects),
    #[case] goes: bool,
) {
    let before = before(Point::Begun);
    let mut now = CurrentObjects {
        plan: Some(before.plan.clone()),
        around: before.around.clone(),
        groups: before.groups.clone(),
    };
    let same = now.clone();
    change(&mut now);
    assert_eq!(goes_on(&before, &now), goes);
    assert!(goes || !now.is(&same) || now.around.namespace_goes);
}

fn edit(now: &mut CurrentObjects) -> &mut InstallPlan {
    Arc::make_mut(now.plan.as_mut().unwrap())
}
