//! Which effects are sent at the same time: creations of one kind that follow each other. A CSV with many
//! APIs has four roles for each, and Kubernetes computes what aggregates them anew whenever it sees another.

use olm_effect::{Action, Effect, Target};

/// Creations that are sent together at most: the roles of four APIs. Kubernetes writes what aggregates them anew
/// about once for each such burst; each creation of a burst takes a connection while it lasts.
const AT_ONCE: usize = 16;

/// The effects to execute next, of effects that follow each other: creations of one kind by one account, or
/// the first one alone.
pub(super) fn first(effects: &[Effect]) -> &[Effect] {
    let mut targets: Vec<&Target> = Vec::new();
    let alike = effects.iter().take(AT_ONCE).take_while(|effect| {
        let is_alike = effects.first().is_some_and(|first| are_alike(first, effect));
        let is_other = !targets.contains(&&effect.target);
        targets.push(&effect.target);
        is_alike && is_other
    });
    let count = alike.count().max(1);
    effects.get(..count).unwrap_or(effects)
}

fn are_alike(one: &Effect, other: &Effect) -> bool {
    let creates = |effect: &Effect| matches!(effect.action, Action::Create(_));
    creates(one)
        && creates(other)
        && one.target.resource == other.target.resource
        && one.identity == other.identity
}

#[cfg(test)]
mod tests {
    use olm_effect::{Identity, Resource};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn create(kind: &str, name: &str) -> Effect {
        let resource = Resource::new("", "v1", kind, &format!("{}s", kind.to_lowercase()));
        Effect::create(Target::namespaced(resource, "n", name), json!({}))
    }

    fn by_account(effect: Effect) -> Effect {
        let (namespace, name) = ("n".to_owned(), "a".to_owned());
        effect.acting_as(Identity::ServiceAccount { namespace, name })
    }

    fn delete(kind: &str, name: &str) -> Effect {
        Effect::delete(create(kind, name).target)
    }

    #[rstest]
    #[case::none(vec![], 0)]
    #[case::one(vec![create("Role", "a")], 1)]
    #[case::of_one_kind(vec![create("Role", "a"), create("Role", "b"), create("Service", "c")], 2)]
    #[case::the_same_twice(vec![create("Role", "a"), create("Role", "b"), create("Role", "a")], 2)]
    #[case::by_others(vec![create("Role", "a"), by_account(create("Role", "b"))], 1)]
    #[case::no_creations(vec![delete("Role", "a"), delete("Role", "b")], 1)]
    #[case::many((0..20).map(|number| create("Role", &number.to_string())).collect(), AT_ONCE)]
    fn creations_of_one_kind_go_together(#[case] effects: Vec<Effect>, #[case] count: usize) {
        assert_eq!(first(&effects).len(), count);
    }
}
