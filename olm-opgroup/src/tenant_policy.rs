//! What the owner of a namespace may do with an OperatorGroup (docs/security.md).
//!
//! In v0 whoever may create an OperatorGroup chooses any target namespaces, and OLM then gives the
//! operators of the group their rights there. Under the strict policy a group targets its own
//! namespace, and others only where the cluster's administrator says so on the group's namespace:
//! a tenant with rights inside a namespace cannot change the Namespace object itself.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use olm_types::annotations::ALLOWED_TARGETS;

use crate::namespace_set::NamespaceSet;

/// How far tenants are trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TenantPolicy {
    /// As OLM v0 does: rights on OLM's objects in a namespace reach wherever they point.
    #[default]
    V0,
    /// Nothing outside their namespace that an administrator did not allow.
    Strict,
}

/// A policy that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tenant policy {0:?}: it must be v0 or strict")]
pub struct UnknownTenantPolicy(String);

/// Targets that the group's namespace may not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "namespace {namespace} may not target {}: under the strict tenant policy an administrator \
     allows it with the annotation {} on the Namespace {namespace}, names separated \
     by commas or * for all", Names(.targets), ALLOWED_TARGETS.name
)]
pub struct TargetsNotAllowed {
    /// Namespace of the group.
    pub namespace: String,
    /// The targets that are not allowed; `""` for all namespaces.
    pub targets: Vec<String>,
}

impl TenantPolicy {
    /// Whether tenants are trusted less than in v0. Then marks show what comes from global catalogs, and
    /// the operators share a key for them.
    pub fn is_strict(self) -> bool {
        self == Self::Strict
    }

    /// Whether a namespace with these annotations may do as under v0's policy: an administrator
    /// who allows all targets trusts it with the whole cluster.
    pub fn trusts(self, annotations: &BTreeMap<String, String>) -> bool {
        self == Self::V0 || allowed(annotations).any(|name| name == "*")
    }

    /// Checks the targets of a group in `namespace`, whose Namespace object has `annotations`.
    ///
    /// # Errors
    /// The targets that are not allowed, ascending.
    pub fn check_targets(
        self,
        namespace: &str,
        annotations: &BTreeMap<String, String>,
        targets: &NamespaceSet,
    ) -> Result<(), TargetsNotAllowed> {
        if self.trusts(annotations) {
            return Ok(());
        }
        let allowed: Vec<_> = allowed(annotations).collect();
        let may = |name: &&str| !name.is_empty() && (*name == namespace || allowed.contains(name));
        let refused: Vec<_> =
            targets.names().filter(|name| !may(name)).map(str::to_owned).collect();
        if refused.is_empty() {
            return Ok(());
        }
        Err(TargetsNotAllowed { namespace: namespace.to_owned(), targets: refused })
    }
}

/// What the administrator wrote on the namespace.
fn allowed(annotations: &BTreeMap<String, String>) -> impl Iterator<Item = &str> {
    let text = ALLOWED_TARGETS.value(annotations).unwrap_or_default();
    text.split(',').map(str::trim)
}

impl FromStr for TenantPolicy {
    type Err = UnknownTenantPolicy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "v0" => Ok(Self::V0),
            "strict" => Ok(Self::Strict),
            other => Err(UnknownTenantPolicy(other.to_owned())),
        }
    }
}

impl fmt::Display for TenantPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V0 => "v0",
            Self::Strict => "strict",
        })
    }
}

/// Longest list of names in a message.
const NAMED: usize = 5;

struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.iter().any(String::is_empty) {
            return f.write_str("all namespaces");
        }
        let named: Vec<_> = self.0.iter().take(NAMED).map(String::as_str).collect();
        f.write_str(&named.join(", "))?;
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn refused(policy: TenantPolicy, allowed: &str, targets: &[&str]) -> Option<Vec<String>> {
        let annotations = [(ALLOWED_TARGETS.name.to_owned(), allowed.to_owned())].into();
        let checked = policy.check_targets("own", &annotations, &targets.iter().copied().collect());
        checked.err().map(|error| error.targets)
    }

    #[rstest]
    #[case::own("", &["own"], &[])]
    #[case::nothing("", &[], &[])]
    #[case::another("", &["own", "other"], &["other"])]
    #[case::all("", &[""], &[""])]
    #[case::an_allowed_one("other, third", &["own", "other"], &[])]
    #[case::one_of_two("other", &["other", "third"], &["third"])]
    #[case::names_do_not_allow_all("other", &[""], &[""])]
    #[case::everything("*", &[""], &[])]
    #[case::everything_names("x,*", &["other"], &[])]
    fn strict(#[case] allowed: &str, #[case] targets: &[&str], #[case] expected: &[&str]) {
        let found = refused(TenantPolicy::Strict, allowed, targets).unwrap_or_default();
        assert_eq!(found, expected);
        assert_eq!(refused(TenantPolicy::V0, allowed, targets), None, "v0 allows everything");
    }

    /// An administrator who wrote the new name has decided, whatever the old one still says.
    #[rstest]
    #[case::old_name(&[(ALLOWED_TARGETS.old, "other")], true)]
    #[case::old_name_for_all(&[(ALLOWED_TARGETS.old, "*")], true)]
    #[case::new_name_of_both(&[(ALLOWED_TARGETS.old, "*"), (ALLOWED_TARGETS.name, "third")], false)]
    #[case::new_name_without_a_value(&[(ALLOWED_TARGETS.old, "*"), (ALLOWED_TARGETS.name, "")], false)]
    #[case::neither(&[], false)]
    fn the_old_name_counts_without_the_new_one(
        #[case] annotations: &[(&str, &str)],
        #[case] allowed: bool,
    ) {
        let annotations =
            annotations.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let targets = ["other"].into_iter().collect();
        let checked = TenantPolicy::Strict.check_targets("own", &annotations, &targets);
        assert_eq!(checked.is_ok(), allowed);
    }

    #[test]
    fn the_message_says_who_can_help() {
        let error = |targets: &[&str]| {
            let targets = targets.iter().copied().collect();
            let checked = TenantPolicy::Strict.check_targets("own", &BTreeMap::new(), &targets);
            checked.unwrap_err().to_string()
        };
        assert!(error(&[""]).starts_with("namespace own may not target all namespaces: under "));
        let many = error(&["a", "b", "c", "d", "e", "f", "g"]);
        assert!(many.contains("target a, b, c, d, e and 2 more: "), "{many}");
        assert!(many.contains("olm-rs.dev/allowed-target-namespaces"), "{many}");
    }

    #[rstest]
    #[case("v0", Ok(TenantPolicy::V0))]
    #[case("strict", Ok(TenantPolicy::Strict))]
    #[case("Strict", Err(UnknownTenantPolicy("Strict".to_owned())))]
    fn names(#[case] text: &str, #[case] policy: Result<TenantPolicy, UnknownTenantPolicy>) {
        assert_eq!(text.parse(), policy);
        if let Ok(policy) = policy {
            assert_eq!(policy.to_string(), text);
        }
    }
}
