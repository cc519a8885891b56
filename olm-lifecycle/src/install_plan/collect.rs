//! Old InstallPlans of a namespace (spec catalog-operator 4.2).
//!
//! v0 looks at ten plans in random order; here all are ordered, so one sweep ends the work.

use std::cmp::Ordering;
use std::sync::Arc;

use olm_effect::{Action, Effect, Propagation};
use olm_types::api::InstallPlan;

use crate::writes::target_of;

/// How many plans of a namespace are kept.
pub const KEPT: usize = 5;

/// Deletions of all but the [`KEPT`] newest plans: those of the highest generations, among equals
/// the youngest.
pub fn surplus(plans: &[Arc<InstallPlan>]) -> Vec<Effect> {
    let mut oldest_first: Vec<_> = plans.iter().collect();
    oldest_first.sort_by(|a, b| age(a, b));
    let count = plans.len().saturating_sub(KEPT);
    oldest_first.into_iter().take(count).map(|plan| delete(plan)).collect()
}

fn age(a: &InstallPlan, b: &InstallPlan) -> Ordering {
    let key = |plan: &InstallPlan| {
        let created = plan.metadata.creation_timestamp.as_ref().map(|time| time.0);
        (plan.spec.generation.unwrap_or_default(), created, plan.metadata.name.clone())
    };
    key(a).cmp(&key(b))
}

/// The deletion of this very plan.
pub(super) fn delete(plan: &InstallPlan) -> Effect {
    let uid = plan.metadata.uid.clone();
    Effect::new(
        target_of(plan),
        Action::Delete { uid, propagation: Propagation::Background, grace_seconds: None },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use olm_types::api::InstallPlanSpec;
    use proptest::prelude::*;

    fn plan(name: &str, generation: i64) -> Arc<InstallPlan> {
        let spec = InstallPlanSpec { generation: Some(generation), ..Default::default() };
        let mut plan = InstallPlan::new(name, spec);
        plan.metadata.namespace = Some("ns".to_owned());
        Arc::new(plan)
    }

    #[test]
    fn the_lowest_generations_go_first_and_ties_go_by_name() {
        let plans: Vec<_> = [("g", 7), ("b", 1), ("a", 1), ("c", 2), ("f", 5), ("d", 3), ("e", 4)]
            .map(|(name, g)| plan(name, g))
            .into();
        let deleted: Vec<_> =
            surplus(&plans).into_iter().map(|effect| effect.target.name).collect();
        assert_eq!(deleted, ["a", "b"]);
    }

    proptest! {
        #[test]
        fn five_remain_and_the_newest_survives(generations in prop::collection::vec(0i64..6, 0..20)) {
            let plans: Vec<_> =
                generations.iter().enumerate().map(|(index, generation)| plan(&format!("p{index}"), *generation)).collect();
            let deleted: Vec<_> = surplus(&plans).into_iter().map(|effect| effect.target.name).collect();
            prop_assert_eq!(deleted.len(), plans.len().saturating_sub(KEPT));
            let survives = |plan: &&Arc<InstallPlan>| !deleted.contains(plan.metadata.name.as_ref().unwrap());
            let kept = plans.iter().filter(survives).map(|plan| plan.spec.generation).max();
            prop_assert_eq!(kept, plans.iter().map(|plan| plan.spec.generation).max());
        }
    }
}
