//! Whether a set of granted rules covers a requested rule.
//!
//! A rule stands for the product of its lists. Instead of walking that product, each requested
//! item is reduced to the set of grants that match it; items with equal sets are one class, and
//! only classes are combined. Wildcards in a request are literal: asking for verb `*` needs a grant
//! of `*` (spec olm-operator 2.6). The number of combined classes is bounded, so that a hostile
//! rule costs no more than a large honest one.

use std::cell::Cell;
use std::collections::BTreeSet;

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::rule::{
    combinations, group_matches, items, name_matches, resource_matches, url_matches, verb_matches,
};

/// Most combinations of classes that one check looks at.
pub const MAX_COMBINATIONS: usize = 1_000_000;

/// Most comparisons of texts that belong to one question, however many rules it is about.
pub const MAX_COMPARISONS: usize = 300_000_000;

/// Why coverage was not decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoverageError {
    /// The rule was refused because of its size.
    #[error(
        "policy rule stands for too many combinations ({0}); split it into rules with fewer \
         verbs, groups, resources and names"
    )]
    TooLarge(usize),
    /// There are too many rules, on both sides together.
    #[error(
        "the policy rules and the roles that the service accounts hold are too many to be compared \
         (more than {MAX_COMPARISONS} comparisons); use fewer rules, roles and names"
    )]
    TooMuch,
}

/// How many comparisons a question may still take. Several checks of one question share it: each rule
/// may be within bounds, and all of them together take hours.
#[derive(Debug)]
pub struct ComparisonBudget(Cell<usize>);

impl Default for ComparisonBudget {
    fn default() -> Self {
        Self(Cell::new(MAX_COMPARISONS))
    }
}

impl ComparisonBudget {
    fn spend(&self, comparisons: usize) -> Result<(), CoverageError> {
        let left = self.0.get().checked_sub(comparisons);
        self.0.set(left.unwrap_or_default());
        left.map(drop).ok_or(CoverageError::TooMuch)
    }
}

/// Whether every single request that `wanted` stands for is allowed by some rule of `grants`.
pub fn covers(
    grants: &[&PolicyRule],
    wanted: &PolicyRule,
    budget: &ComparisonBudget,
) -> Result<bool, CoverageError> {
    if wanted.verbs.is_empty() {
        return Ok(true);
    }
    budget.spend(comparisons(grants, wanted))?;
    let dimensions = dimensions(grants, wanted);
    let size = dimensions.iter().map(BTreeSet::len).fold(1, usize::saturating_mul);
    if size > MAX_COMBINATIONS {
        return Err(CoverageError::TooLarge(combinations(wanted)));
    }
    let everything = Matching::all(grants.len());
    Ok(every_combination_matches(&everything, &dimensions))
}

/// The set of grants that match something, as bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Matching(Vec<u64>);

impl Matching {
    fn all(count: usize) -> Self {
        Self::of(count, |_| true)
    }

    fn of(count: usize, matches: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0_u64; count.div_ceil(64)];
        for (word, bits) in words.iter_mut().enumerate() {
            for bit in 0..64 {
                let index = word * 64 + bit;
                if index < count && matches(index) {
                    *bits |= 1 << bit;
                }
            }
        }
        Self(words)
    }

    fn both(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

/// How many comparisons the classes of a rule take at most.
fn comparisons(grants: &[&PolicyRule], wanted: &PolicyRule) -> usize {
    let lists: [fn(&PolicyRule) -> &[String]; 5] = [
        |rule| &rule.verbs,
        |rule| items(&rule.api_groups),
        |rule| items(&rule.resources),
        |rule| items(&rule.resource_names),
        |rule| items(&rule.non_resource_urls),
    ];
    let of = |list: fn(&PolicyRule) -> &[String]| {
        let granted: usize = grants.iter().map(|grant| list(grant).len() + 1).sum();
        list(wanted).len().max(1).saturating_mul(granted)
    };
    lists.map(of).into_iter().fold(0, usize::saturating_add)
}

type Matcher = fn(&PolicyRule, &str) -> bool;

fn dimensions(grants: &[&PolicyRule], wanted: &PolicyRule) -> Vec<BTreeSet<Matching>> {
    let urls = items(&wanted.non_resource_urls);
    let lists: Vec<(&[String], Matcher)> = if urls.is_empty() {
        vec![
            (&wanted.verbs, verb_matches),
            (items(&wanted.api_groups), group_matches),
            (items(&wanted.resources), resource_matches),
            (items(&wanted.resource_names), name_matches),
        ]
    } else {
        vec![(&wanted.verbs, verb_matches), (urls, url_matches)]
    };
    lists.into_iter().map(|(list, matcher)| classes(grants, list, matcher)).collect()
}

/// The distinct sets of grants that match the items of one list; an empty list asks for `""`.
fn classes(grants: &[&PolicyRule], list: &[String], matcher: Matcher) -> BTreeSet<Matching> {
    let matching = |item: &str| {
        Matching::of(grants.len(), |index| {
            grants.get(index).is_some_and(|grant| matcher(grant, item))
        })
    };
    if list.is_empty() {
        return BTreeSet::from([matching("")]);
    }
    list.iter().map(|item| matching(item)).collect()
}

fn every_combination_matches(so_far: &Matching, rest: &[BTreeSet<Matching>]) -> bool {
    if so_far.is_empty() {
        return false;
    }
    match rest.split_first() {
        None => true,
        Some((first, rest)) => {
            first.iter().all(|class| every_combination_matches(&so_far.both(class), rest))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A rule from comma-separated lists; an empty text is an absent list.
    pub(crate) fn mk_rule(
        verbs: &str,
        groups: &str,
        resources: &str,
        names: &str,
        urls: &str,
    ) -> PolicyRule {
        let list = |text: &str| -> Vec<String> {
            text.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
        };
        let optional = |text: &str| Some(list(text)).filter(|list| !list.is_empty());
        PolicyRule {
            verbs: list(verbs),
            api_groups: optional(groups),
            resources: optional(resources),
            resource_names: optional(names),
            non_resource_urls: optional(urls),
        }
    }

    /// The obvious way: every tuple against every grant.
    fn brute_force(grants: &[&PolicyRule], wanted: &PolicyRule) -> bool {
        let or_blank = |list: &Option<Vec<String>>| {
            let list = items(list);
            if list.is_empty() { vec![String::new()] } else { list.to_vec() }
        };
        let mut all = true;
        for verb in &wanted.verbs {
            for group in or_blank(&wanted.api_groups) {
                for resource in or_blank(&wanted.resources) {
                    for name in or_blank(&wanted.resource_names) {
                        for url in or_blank(&wanted.non_resource_urls) {
                            all &= grants.iter().any(|grant| {
                                verb_matches(grant, verb)
                                    && if url.is_empty() {
                                        group_matches(grant, &group)
                                            && resource_matches(grant, &resource)
                                            && name_matches(grant, &name)
                                    } else {
                                        url_matches(grant, &url)
                                    }
                            });
                        }
                    }
                }
            }
        }
        all
    }

    fn some_of(items: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
        proptest::sample::subsequence(items, 0..=most).prop_map(|list| list.join(","))
    }

    fn any_rule() -> impl Strategy<Value = PolicyRule> {
        let resources = (
            some_of(&["get", "list", "*"], 3),
            some_of(&["g", "h", "*"], 2),
            some_of(&["a", "b", "a/log", "*/log", "*"], 3),
            some_of(&["n", "m"], 2),
        )
            .prop_map(|(verbs, groups, resources, names)| {
                mk_rule(&verbs, &groups, &resources, &names, "")
            });
        let urls = (some_of(&["get", "list", "*"], 3), some_of(&["/a", "/a/*", "/a/b", "*"], 2))
            .prop_map(|(verbs, urls)| mk_rule(&verbs, "", "", "", &urls));
        prop_oneof![4 => resources, 1 => urls]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn agrees_with_brute_force(
            grants in proptest::collection::vec(any_rule(), 0..5),
            wanted in any_rule(),
        ) {
            let grants: Vec<&PolicyRule> = grants.iter().collect();
            prop_assert_eq!(covers(&grants, &wanted, &ComparisonBudget::default()), Ok(brute_force(&grants, &wanted)));
        }

        #[test]
        fn a_further_grant_takes_nothing_away(
            grants in proptest::collection::vec(any_rule(), 0..4),
            further in any_rule(),
            wanted in any_rule(),
        ) {
            let few: Vec<&PolicyRule> = grants.iter().collect();
            let more: Vec<&PolicyRule> = grants.iter().chain([&further]).collect();
            let before = covers(&few, &wanted, &ComparisonBudget::default()) == Ok(true);
            prop_assert!(!before || covers(&more, &wanted, &ComparisonBudget::default()) == Ok(true));
        }
    }

    #[test]
    fn a_huge_rule_with_few_classes_is_decided_at_once() {
        let many = (0..1000).map(|i| format!("x{i}")).collect::<Vec<_>>().join(",");
        let wanted = mk_rule(&many, &many, &many, &many, "");
        let all = mk_rule("*", "*", "*", "", "");
        assert_eq!(covers(&[&all], &wanted, &ComparisonBudget::default()), Ok(true));
        assert_eq!(covers(&[], &wanted, &ComparisonBudget::default()), Ok(false));
    }

    #[test]
    fn a_rule_with_too_many_classes_is_refused() {
        let many = (0..200).map(|i| format!("x{i}")).collect::<Vec<_>>().join(",");
        let wanted = mk_rule(&many, &many, &many, "", "");
        let grants: Vec<PolicyRule> = (0..200)
            .map(|i| {
                let item = format!("x{i}");
                mk_rule(&item, &item, &item, "", "")
            })
            .collect();
        let grants: Vec<&PolicyRule> = grants.iter().collect();
        assert_eq!(
            covers(&grants, &wanted, &ComparisonBudget::default()),
            Err(CoverageError::TooLarge(8_000_000))
        );
    }

    /// Each of these rules is small; all of them together would take hours.
    #[test]
    fn many_rules_have_one_bound() {
        let names: Vec<String> = (0..2_000).map(|number| format!("n{number}")).collect();
        let wanted = mk_rule("get", "g", "pods", &names.join(","), "");
        let grants = vec![&wanted; 20];
        let budget = ComparisonBudget::default();
        assert_eq!(covers(&grants, &wanted, &budget), Ok(true));
        let refused = (0..10).find_map(|_| covers(&grants, &wanted, &budget).err());
        assert_eq!(refused, Some(CoverageError::TooMuch));
        assert_eq!(covers(&[], &wanted, &ComparisonBudget::default()), Ok(false));
    }
}
