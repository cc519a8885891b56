//! One policy rule: whether it is well formed, and how it matches a single request.

use k8s_openapi::api::rbac::v1::PolicyRule;

/// Why a rule cannot be checked; the text is part of a CSV's status (spec olm-operator 2.6).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A rule without verbs grants nothing and asks for nothing.
    #[error("policy rule must have at least one verb")]
    NoVerbs,
    /// A rule is about resources or about URLs.
    #[error("rule cannot apply to both regular resources and non-resource URLs")]
    Mixed,
}

/// Whether the rule may be part of a permission.
pub fn validate(rule: &PolicyRule) -> Result<(), RuleError> {
    if rule.verbs.is_empty() {
        return Err(RuleError::NoVerbs);
    }
    let lists = [&rule.api_groups, &rule.resources, &rule.resource_names];
    let has_resources = lists.iter().any(|list| !items(list).is_empty());
    if has_resources && !items(&rule.non_resource_urls).is_empty() {
        return Err(RuleError::Mixed);
    }
    Ok(())
}

/// Number of single requests that the rule stands for: the product of its lists, an empty list
/// other than the verbs counting once.
pub fn combinations(rule: &PolicyRule) -> usize {
    let lists = [&rule.api_groups, &rule.resources, &rule.resource_names, &rule.non_resource_urls];
    lists.iter().map(|list| items(list).len().max(1)).fold(rule.verbs.len(), usize::saturating_mul)
}

/// The items of an optional list.
pub(crate) fn items(list: &Option<Vec<String>>) -> &[String] {
    list.as_deref().unwrap_or_default()
}

/// Whether a grant's `verbs` contain the requested verb.
pub(crate) fn verb_matches(grant: &PolicyRule, verb: &str) -> bool {
    grant.verbs.iter().any(|granted| granted == "*" || granted == verb)
}

/// Whether a grant's `apiGroups` contain the requested group.
pub(crate) fn group_matches(grant: &PolicyRule, group: &str) -> bool {
    items(&grant.api_groups).iter().any(|granted| granted == "*" || granted == group)
}

/// Whether a grant's `resources` contain the requested `resource` or `resource/subresource`.
pub(crate) fn resource_matches(grant: &PolicyRule, resource: &str) -> bool {
    let any_parent = resource.split_once('/').map(|(_, sub)| format!("*/{sub}"));
    items(&grant.resources).iter().any(|granted| {
        granted == "*" || granted == resource || Some(granted) == any_parent.as_ref()
    })
}

/// Whether a grant is for every object or for the named one; `""` asks for every object.
pub(crate) fn name_matches(grant: &PolicyRule, name: &str) -> bool {
    let names = items(&grant.resource_names);
    names.is_empty() || names.iter().any(|granted| granted == name)
}

/// Whether a grant's `nonResourceURLs` contain the requested URL; `*` ends a prefix.
pub(crate) fn url_matches(grant: &PolicyRule, url: &str) -> bool {
    items(&grant.non_resource_urls).iter().any(|granted| {
        granted == url || granted.ends_with('*') && url.starts_with(granted.trim_end_matches('*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::tests::mk_rule;
    use rstest::rstest;

    #[rstest]
    #[case::stars(mk_rule("*", "*", "*", "", ""), 1)]
    #[case::url(mk_rule("get", "", "", "", "/a"), 1)]
    #[case::two_verbs(mk_rule("get,list", "*", "*", "", ""), 2)]
    #[case::two_verbs_two_resources(mk_rule("get,list", "", "a,b", "", ""), 4)]
    #[case::two_urls(mk_rule("get", "", "", "", "/a,/b"), 2)]
    #[case::with_name(mk_rule("get,list", "", "a,b", "n", ""), 4)]
    #[case::two_groups(mk_rule("get,list", "g1,g2", "a,b", "", ""), 8)]
    #[case::no_verbs(mk_rule("", "g1,g2", "a,b", "", ""), 0)]
    fn expansion(#[case] rule: PolicyRule, #[case] count: usize) {
        assert_eq!(combinations(&rule), count);
    }

    #[rstest]
    #[case::fine(mk_rule("get", "", "pods", "", ""), Ok(()))]
    #[case::no_verbs(mk_rule("", "", "pods", "", ""), Err(RuleError::NoVerbs))]
    #[case::mixed(mk_rule("get", "", "pods", "", "/x"), Err(RuleError::Mixed))]
    #[case::name_and_url(mk_rule("get", "", "", "n", "/x"), Err(RuleError::Mixed))]
    #[case::urls(mk_rule("get", "", "", "", "/x"), Ok(()))]
    fn validity(#[case] rule: PolicyRule, #[case] expected: Result<(), RuleError>) {
        assert_eq!(validate(&rule), expected);
    }

    #[rstest]
    #[case("pods", "pods", true)]
    #[case("*", "pods/log", true)]
    #[case("pods", "pods/log", false)]
    #[case("*/log", "pods/log", true)]
    #[case("*/log", "pods", false)]
    #[case("pods/log", "pods/log", true)]
    #[case("pods", "*", false)]
    fn resources(#[case] granted: &str, #[case] asked: &str, #[case] matches: bool) {
        assert_eq!(resource_matches(&mk_rule("get", "", granted, "", ""), asked), matches);
    }

    #[rstest]
    #[case("/osbs/*", "/osbs", false)]
    #[case("/osbs/*", "/osbs/a", true)]
    #[case("/osbs*", "/osbs", true)]
    #[case("*", "/x", true)]
    #[case("/osbs", "/osbs", true)]
    fn urls(#[case] granted: &str, #[case] asked: &str, #[case] matches: bool) {
        assert_eq!(url_matches(&mk_rule("get", "", "", "", granted), asked), matches);
    }
}
