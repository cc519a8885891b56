//! Which plans are kept.

use std::collections::BTreeMap;

use kube_core::ResourceExt;
use olm_types::api::{InstallPlanPhase, InstallPlanSpec, InstallPlanStatus, SubscriptionStatus};
use olm_types::owner::non_blocking_owner;
use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn plan(name: &str, generation: i64) -> Arc<InstallPlan> {
    Arc::new(owned(name, generation, &[], InstallPlanPhase::Complete))
}

fn owned(name: &str, generation: i64, owners: &[&str], phase: InstallPlanPhase) -> InstallPlan {
    let spec = InstallPlanSpec { generation: Some(generation), ..Default::default() };
    let mut plan = InstallPlan::new(name, spec);
    plan.metadata.namespace = Some("ns".to_owned());
    plan.status = Some(InstallPlanStatus { phase, ..Default::default() });
    let owner =
        |name: &&str| non_blocking_owner(Subscription::API_VERSION, Subscription::KIND, name, name);
    plan.metadata.owner_references = Some(owners.iter().map(owner).collect());
    plan
}

fn names(effects: Vec<Effect>) -> Vec<String> {
    effects.into_iter().map(|effect| effect.target.name).collect()
}

/// A Subscription that follows a plan of this generation.
fn subscription(name: &str, follows: (&str, i64)) -> Arc<Subscription> {
    let mut one = Subscription::new(name, Default::default());
    one.metadata.uid = Some(name.to_owned());
    let reference = k8s_openapi::api::core::v1::ObjectReference {
        name: Some(follows.0.to_owned()),
        ..Default::default()
    };
    one.status = Some(SubscriptionStatus {
        install_plan_ref: Some(reference),
        install_plan_generation: Some(follows.1),
        ..Default::default()
    });
    Arc::new(one)
}

#[test]
fn the_lowest_generations_go_first_and_ties_go_by_name() {
    let plans: Vec<_> = [("g", 7), ("b", 1), ("a", 1), ("c", 2), ("f", 5), ("d", 3), ("e", 4)]
        .map(|(name, g)| plan(name, g))
        .into();
    assert_eq!(names(surplus(&plans)), ["a", "b"]);
    assert_eq!(names(surplus_of_each(&plans, &[])), ["a", "b"]);
}

/// Twelve Subscriptions whose plans all wait.
#[test]
fn what_waits_for_others_is_no_reason_to_go() {
    let number: Vec<i64> = (1..=12).collect();
    let plans: Vec<_> = number
        .iter()
        .map(|n| {
            let waits = InstallPlanPhase::RequiresApproval;
            Arc::new(owned(&format!("p{n}"), *n, &[&format!("s{n}")], waits))
        })
        .collect();
    let subscriptions: Vec<_> =
        number.iter().map(|n| subscription(&format!("s{n}"), (&format!("p{n}"), *n))).collect();
    assert_eq!(surplus_of_each(&plans, &subscriptions), []);
    assert_eq!(surplus(&plans).len(), 7, "in v0");
}

/// The oldest of seven plans of `s`, which follows the newest.
#[rstest]
#[case::done(&["s"], InstallPlanPhase::Complete, &["old"])]
#[case::failed(&["s"], InstallPlanPhase::Failed, &["old"])]
#[case::under_way(&["s"], InstallPlanPhase::Installing, &[])]
#[case::waits_in_vain(&["s"], InstallPlanPhase::RequiresApproval, &["old"])]
#[case::waits_for_another_one_too(&["s", "t"], InstallPlanPhase::RequiresApproval, &[])]
#[case::one_of_few_of_another_one(&["s", "t"], InstallPlanPhase::Complete, &[])]
#[case::another_one_refers_to_it(&["s", "u"], InstallPlanPhase::Complete, &[])]
#[case::its_other_owner_is_gone(&["s", "gone"], InstallPlanPhase::Complete, &["old"])]
#[case::alone_among_those_without_an_owner(&["gone"], InstallPlanPhase::Complete, &[])]
fn an_old_plan_goes_when_it_is_not_needed(
    #[case] owners: &[&str],
    #[case] phase: InstallPlanPhase,
    #[case] expected: &[&str],
) {
    let mut plans = vec![Arc::new(owned("old", 2, owners, phase))];
    plans.extend(
        (3..8).map(|n| Arc::new(owned(&format!("p{n}"), n, &["s"], InstallPlanPhase::Complete))),
    );
    let mut subscriptions = vec![subscription("s", ("p7", 7)), subscription("t", ("older", 1))];
    if owners.contains(&"u") {
        subscriptions.push(subscription("u", ("old", 2)));
    }
    assert_eq!(names(surplus_of_each(&plans, &subscriptions)), expected);
}

proptest! {
    #[test]
    fn five_remain_and_the_newest_survives(generations in prop::collection::vec(0i64..6, 0..20)) {
        let plans: Vec<_> = generations
            .iter()
            .enumerate()
            .map(|(index, generation)| plan(&format!("p{index}"), *generation))
            .collect();
        for deleted in [names(surplus(&plans)), names(surplus_of_each(&plans, &[]))] {
            prop_assert_eq!(deleted.len(), plans.len().saturating_sub(KEPT));
            let survives = |plan: &&Arc<InstallPlan>| !deleted.contains(&plan.name_any());
            let kept = plans.iter().filter(survives).map(|plan| plan.spec.generation).max();
            prop_assert_eq!(kept, plans.iter().map(|plan| plan.spec.generation).max());
        }
    }

    /// However plans are shared, each Subscription keeps its newest ones, and the number is bounded.
    #[test]
    fn every_subscription_keeps_its_own(
        owners in prop::collection::vec(prop::collection::btree_set(0usize..4, 1..3), 0..40),
    ) {
        let name = |number: &usize| format!("s{number}");
        let plans: Vec<_> = owners.iter().enumerate().map(|(index, own)| {
            let own: Vec<String> = own.iter().map(name).collect();
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let number = i64::try_from(index).unwrap();
            Arc::new(owned(&format!("p{index}"), number, &own, InstallPlanPhase::Complete))
        }).collect();
        let subscriptions: Vec<_> =
            (0..4).map(|number| subscription(&name(&number), ("none", 0))).collect();
        let deleted = names(surplus_of_each(&plans, &subscriptions));
        prop_assert!(plans.len() - deleted.len() <= 4 * KEPT);
        let mut newest: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, own) in owners.iter().enumerate().rev() {
            for number in own {
                let all = newest.entry(*number).or_default();
                if all.len() < KEPT {
                    all.push(index);
                }
            }
        }
        let kept: BTreeSet<usize> = newest.into_values().flatten().collect();
        let expected = (0..plans.len()).filter(|index| !kept.contains(index)).count();
        prop_assert_eq!(deleted.len(), expected);
    }
}
