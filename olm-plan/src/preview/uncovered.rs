//! The part of a rule that other rules do not cover: what an account gains or loses by it.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

use k8s_openapi::api::rbac::v1::PolicyRule;
use olm_rbac::{ComparisonBudget, combinations, covers};

/// Most requests that a rule is taken apart into. One that allows more is shown as it is.
const PARTS: usize = 1_000;

/// What a request is about, and what may be done with it.
type Parts<'a> = BTreeMap<About<'a>, BTreeSet<&'a str>>;

/// Group, name of an object, path that is no resource, and resource.
type About<'a> = [Option<&'a str>; 4];

/// Rules for every request that `rule` allows and `grants` do not. A rule that is not covered at all stays as its author
/// wrote it; so does one that cannot be compared.
pub(super) fn uncovered(rule: &PolicyRule, grants: &[&PolicyRule]) -> Vec<PolicyRule> {
    let budget = ComparisonBudget::default();
    let is_covered = |rule: &PolicyRule| covers(grants, rule, &budget).unwrap_or_default();
    if grants.contains(&rule) || is_covered(rule) {
        return Vec::new();
    }
    if combinations(rule) > PARTS {
        return vec![rule.clone()];
    }
    let (mut all, mut left) = (0, Parts::new());
    for about in subjects(rule) {
        for verb in &rule.verbs {
            all += 1;
            if !is_covered(&joined(about, &[about[3]], once(verb.as_str()))) {
                left.entry(about).or_default().insert(verb);
            }
        }
    }
    match left.values().map(BTreeSet::len).sum::<usize>() == all {
        true => vec![rule.clone()],
        false => merged(left),
    }
}

/// Everything that a rule is about, each of its lists taken apart.
fn subjects(rule: &PolicyRule) -> Vec<About<'_>> {
    let urls = items(&rule.non_resource_urls);
    if urls.iter().any(Option::is_some) {
        return urls.into_iter().map(|url| [None, None, url, None]).collect();
    }
    let (groups, resources) = (items(&rule.api_groups), items(&rule.resources));
    let names = items(&rule.resource_names);
    let mut found = Vec::new();
    for group in &groups {
        for resource in &resources {
            found.extend(names.iter().map(|name| [*group, *name, None, *resource]));
        }
    }
    found
}

/// The items of a list; nothing, once, where there are none.
fn items(list: &Option<Vec<String>>) -> Vec<Option<&str>> {
    let items: Vec<_> = list.iter().flatten().map(|item| Some(item.as_str())).collect();
    if items.is_empty() { vec![None] } else { items }
}

/// A rule for all resources of a group with which the same may be done.
fn merged(parts: Parts<'_>) -> Vec<PolicyRule> {
    let mut alike: BTreeMap<(About<'_>, BTreeSet<&str>), Vec<Option<&str>>> = BTreeMap::new();
    for ([group, name, url, resource], verbs) in parts {
        alike.entry(([group, name, url, None], verbs)).or_default().push(resource);
    }
    let rule = |((about, verbs), resources): ((About<'_>, BTreeSet<&str>), Vec<Option<&str>>)| {
        joined(about, &resources, verbs)
    };
    alike.into_iter().map(rule).collect()
}

fn joined<'a>(
    [group, name, url, _]: About<'_>,
    resources: &[Option<&str>],
    verbs: impl IntoIterator<Item = &'a str>,
) -> PolicyRule {
    let list = |item: Option<&str>| item.map(|item| vec![item.to_owned()]);
    let resources: Vec<String> = resources.iter().flatten().map(|&one| one.to_owned()).collect();
    PolicyRule {
        api_groups: list(group),
        non_resource_urls: list(url),
        resource_names: list(name),
        resources: (!resources.is_empty()).then_some(resources),
        verbs: verbs.into_iter().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::permissions;
    use super::*;

    fn rule(groups: &str, resources: &str, verbs: &str) -> PolicyRule {
        let list = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
        let (api_groups, resources) = (Some(list(groups)), Some(list(resources)));
        PolicyRule { api_groups, resources, verbs: list(verbs), ..PolicyRule::default() }
    }

    #[rstest]
    #[case::all(&[], &["get,list pods,services of core"])]
    #[case::others(&[rule("", "secrets", "get")], &["get,list pods,services of core"])]
    #[case::in_two(&[rule("", "pods", "*"), rule("", "services", "get,list")], &[])]
    #[case::a_verb(&[rule("*", "pods,services", "get")], &["list pods,services of core"])]
    #[case::a_resource(&[rule("", "pods", "get,list,watch")], &["get,list services of core"])]
    #[case::of_each(&[rule("", "pods", "get"), rule("", "services", "list")],
        &["get services of core", "list pods of core"])]
    fn what_is_held_already_is_left_out(#[case] held: &[PolicyRule], #[case] left: &[&str]) {
        let held: Vec<&PolicyRule> = held.iter().collect();
        let found = uncovered(&rule("", "pods,services", "get,list"), &held);
        assert_eq!(found.iter().map(permissions::rule).collect::<Vec<_>>(), left);
    }

    #[test]
    fn names_paths_and_large_rules() {
        let named = |names: &[&str]| PolicyRule {
            resource_names: Some(names.iter().map(ToString::to_string).collect()),
            ..rule("", "secrets", "get")
        };
        assert_eq!(uncovered(&named(&["a", "b"]), &[&named(&["b"])]), [named(&["a"])]);
        let paths = |paths: &[&str]| PolicyRule {
            non_resource_urls: Some(paths.iter().map(ToString::to_string).collect()),
            verbs: vec!["get".to_owned()],
            ..PolicyRule::default()
        };
        assert_eq!(uncovered(&paths(&["/a", "/b"]), &[&paths(&["/a"])]), [paths(&["/b"])]);
        let many: Vec<String> = (0..=PARTS).map(|number| number.to_string()).collect();
        let many = rule("", &many.join(","), "get");
        assert_eq!(uncovered(&many, &[&rule("", "0", "get")]), std::slice::from_ref(&many));
    }
}
