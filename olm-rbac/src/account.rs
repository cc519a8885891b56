//! ServiceAccounts as subjects of bindings.

use k8s_openapi::api::rbac::v1::Subject;

/// A ServiceAccount as the subject of a permission check.
///
/// Deliberately without groups: a binding to `system:serviceaccounts` does not count as a right
/// that an operator was given (spec olm-operator 2.6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// Namespace of the ServiceAccount.
    pub namespace: String,
    /// Name of the ServiceAccount.
    pub name: String,
}

impl Account {
    /// An account from its two parts.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The account that a subject stands for, if it stands for exactly one.
    ///
    /// `default_namespace` is the namespace of the RoleBinding; it stands in for a missing
    /// `namespace` of the subject. ClusterRoleBindings pass `None`.
    pub fn of_subject(subject: &Subject, default_namespace: Option<&str>) -> Option<Self> {
        match subject.kind.as_str() {
            "ServiceAccount" => {
                let given = subject.namespace.as_deref().filter(|namespace| !namespace.is_empty());
                given.or(default_namespace).map(|namespace| Self::new(namespace, &subject.name))
            }
            "User" => Self::of_user(&subject.name),
            _ => None,
        }
    }

    /// Whether `subject` stands for this account.
    pub fn is(&self, subject: &Subject, default_namespace: Option<&str>) -> bool {
        Self::of_subject(subject, default_namespace).as_ref() == Some(self)
    }

    fn of_user(user: &str) -> Option<Self> {
        let (namespace, name) = user.strip_prefix("system:serviceaccount:")?.split_once(':')?;
        Some(Self::new(namespace, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn subject(kind: &str, namespace: Option<&str>, name: &str) -> Subject {
        Subject {
            api_group: None,
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
        }
    }

    #[rstest]
    #[case::account(subject("ServiceAccount", Some("ns"), "sa"), None, true)]
    #[case::other_name(subject("ServiceAccount", Some("ns"), "sb"), None, false)]
    #[case::other_namespace(subject("ServiceAccount", Some("n2"), "sa"), None, false)]
    #[case::namespace_of_binding(subject("ServiceAccount", None, "sa"), Some("ns"), true)]
    #[case::no_namespace_at_all(subject("ServiceAccount", None, "sa"), None, false)]
    #[case::user_name(subject("User", None, "system:serviceaccount:ns:sa"), None, true)]
    #[case::group(subject("Group", None, "system:serviceaccounts:ns"), None, false)]
    fn subjects(#[case] subject: Subject, #[case] default: Option<&str>, #[case] is: bool) {
        assert_eq!(Account::new("ns", "sa").is(&subject, default), is);
    }
}
