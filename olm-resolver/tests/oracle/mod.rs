//! The resolver against a reference that tries every set of bundles, over random small problems.
//! That the answer is the most preferred one is checked beside the solver, against brute force too.

mod instance;
mod reference;

use olm_resolver::{Fact, Policy, Repair, ResolveError, Resolver};
use proptest::prelude::*;
use reference::Rules;

use crate::support::Problem;

fn resolver() -> Resolver {
    Resolver { repairs: 0, ..Resolver::default() }
}

fn names(resolution: &olm_resolver::Resolution) -> Vec<&str> {
    resolution.chosen.iter().map(|chosen| &*chosen.entry.name).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn answers_are_sound_and_complete(instance in instance::instance()) {
        let (text, rules) = (instance.text(), Rules::of(&instance));
        match Problem::read(&text).resolve(&resolver()) {
            Ok(resolution) => {
                let chosen = rules.entries(&names(&resolution));
                let kept = rules.installed_sets().any(|installed| rules.keeps(chosen | installed));
                prop_assert!(kept, "unsound: {:?}\n{text}", names(&resolution));
            }
            Err(ResolveError::NotSatisfiable(_)) => {
                prop_assert!(!rules.has_answer(), "an answer was missed\n{text}");
            }
            Err(error) => prop_assert!(false, "{error}\n{text}"),
        }
    }

    #[test]
    fn separate_parts_find_the_same_answer(instance in instance::instance()) {
        let text = instance.text();
        let problem = Problem::read(&text);
        let isolated = problem.outcome(&resolver(), Policy::Isolated);
        match problem.resolve(&resolver()) {
            Ok(resolution) => {
                prop_assert_eq!(names(&resolution), names(&isolated.resolution), "{}", text);
                prop_assert!(isolated.refusals.is_empty(), "{}", text);
            }
            Err(_) => prop_assert!(!isolated.refusals.is_empty(), "{}", text),
        }
    }

    /// Whoever is refused keeps what is installed, and what others get goes with it.
    #[test]
    fn separate_parts_never_collide(instance in instance::instance()) {
        let (text, rules) = (instance.text(), Rules::of(&instance));
        let answer = Problem::read(&text).outcome(&resolver(), Policy::Isolated);
        let refused: Vec<&str> = answer
            .refusals
            .iter()
            .flat_map(|refusal| refusal.subscriptions.iter().map(String::as_str))
            .collect();
        let stays = instance.subscriptions.iter().filter(|subscription| refused.contains(&subscription.name.as_str()));
        let stays = stays.filter_map(|subscription| Some(instance.bundles[subscription.installed?].name.as_str()));
        let stays: Vec<&str> = stays.chain(["orphan"]).collect();
        let new = rules.entries(&names(&answer.resolution));
        let fits = rules.installed_sets().any(|installed| {
            let all_stay = (rules.offered..rules.names.len())
                .filter(|at| stays.contains(&rules.names[*at].as_str()))
                .all(|at| installed >> at & 1 == 1);
            all_stay && rules.tolerates(new, installed)
        });
        prop_assert!(fits, "installed {:?}, refused {refused:?}\n{text}", names(&answer.resolution));
    }

    /// A repair, applied to the problem as its words say, leaves none refused whom the
    /// explanation is about.
    #[test]
    fn repairs_help(instance in instance::instance()) {
        let text = instance.text();
        let error = Problem::read(&text).resolve(&Resolver::default()).err();
        let Some(ResolveError::NotSatisfiable(explanation)) = error else { return Ok(()) };
        for repair in explanation.repairs() {
            let mut repaired = Problem::read(&text);
            if apply(repair, &mut repaired) {
                let answer = repaired.outcome(&resolver(), Policy::Isolated);
                let refused: Vec<&String> =
                    answer.refusals.iter().flat_map(|refusal| &refusal.subscriptions).collect();
                let helped = explanation.facts().iter().all(|fact| match fact {
                    Fact::SubscriptionExists(subscription) => !refused.contains(&&subscription.name),
                    _ => true,
                });
                prop_assert!(helped, "{repair}: {refused:?}\n{text}");
            }
        }
    }
}

fn apply(repair: &Repair, problem: &mut Problem) -> bool {
    match repair {
        Repair::DeleteCsv { csv } => problem.installed.retain(|other| other.name != *csv),
        Repair::MoveSubscription { subscription, installed } => {
            problem.subscriptions.retain(|other| other.name != *subscription);
            problem.installed.retain(|csv| Some(&csv.name) != installed.as_ref());
        }
        Repair::UseCatalog { subscription, catalog, .. } => {
            let others = problem.subscriptions.iter_mut();
            for other in others.filter(|other| other.name == *subscription) {
                other.catalog = Some(catalog.clone());
            }
        }
        _ => return false,
    }
    true
}
