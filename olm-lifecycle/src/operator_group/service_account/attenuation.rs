//! As which account OLM acts in a namespace: for the steps of its plans (spec catalog-operator 4.3, step 2),
//! and for what its CSVs install.

use k8s_openapi::api::core::v1::ObjectReference;
use olm_effect::Identity;
use olm_opgroup::NoTargets;
use olm_types::api::OperatorGroup;

/// Why it cannot be said who executes the steps. Every variant goes away when OperatorGroups
/// change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttenuationError {
    /// No OperatorGroup has target namespaces yet.
    #[error("no operator group found that is managing this namespace")]
    NoGroup,
    /// All OperatorGroups of the namespace are being deleted; v0 would go on with one.
    #[error(transparent)]
    Going(NoTargets),
    /// More than one OperatorGroup has target namespaces.
    #[error("more than one operator group(s) are managing this namespace count={0}")]
    SeveralGroups(usize),
    /// The OperatorGroup names an account that does not exist.
    #[error(
        "please make sure the service account exists. sa={account} operatorgroup={namespace}/{group}"
    )]
    NoAccount {
        /// Name of the ServiceAccount.
        account: String,
        /// Namespace of the OperatorGroup.
        namespace: String,
        /// Name of the OperatorGroup.
        group: String,
    },
}

/// The ServiceAccount that acts for the plans and CSVs of a namespace; none when the operator itself
/// does. `groups` are the OperatorGroups of that namespace.
///
/// It is the one that the group's spec names, in the namespace itself. What the group's status says
/// is waited for, as in v0: that there are targets, and that the account was found. Nothing else is
/// taken from it, because tenants may write it (docs/security.md).
///
/// # Errors
/// No account may act, for now.
pub fn account<G: AsRef<OperatorGroup>>(
    groups: &[G],
    namespace: &str,
) -> Result<Option<ObjectReference>, AttenuationError> {
    let here = |group: &&OperatorGroup| group.metadata.namespace.as_deref() == Some(namespace);
    // A group that is being deleted gives nothing, and least of all the operator's own rights.
    let (going, stay): (Vec<&OperatorGroup>, Vec<&OperatorGroup>) = groups
        .iter()
        .map(AsRef::as_ref)
        .filter(here)
        .partition(|group| group.metadata.deletion_timestamp.is_some());
    let managing: Vec<&OperatorGroup> =
        stay.iter().copied().filter(|group| has_targets(group)).collect();
    let group = match (managing.as_slice(), going.first()) {
        ([], Some(group)) if stay.is_empty() => {
            let name = group.metadata.name.clone().unwrap_or_default();
            return Err(AttenuationError::Going(NoTargets::Going { name }));
        }
        ([], _) => return Err(AttenuationError::NoGroup),
        ([group], _) => *group,
        (several, _) => return Err(AttenuationError::SeveralGroups(several.len())),
    };
    let Some(account) = named_account(group) else { return Ok(None) };
    let found = reference_to(group, account, namespace);
    found.map(Some).ok_or_else(|| AttenuationError::NoAccount {
        account: account.to_owned(),
        namespace: namespace.to_owned(),
        group: group.metadata.name.clone().unwrap_or_default(),
    })
}

/// Who acts: the account, or OLM itself where none is named.
pub fn identity(account: Option<ObjectReference>) -> Identity {
    account.map_or(Identity::Own, |account| Identity::ServiceAccount {
        namespace: account.namespace.unwrap_or_default(),
        name: account.name.unwrap_or_default(),
    })
}

/// Name of the account that a group names, if it names one.
pub fn named_account(group: &OperatorGroup) -> Option<&str> {
    group.spec.service_account_name.as_deref().filter(|name| !name.is_empty())
}

/// The reference to this account in the group's status; none while it is to another one.
fn reference_to(group: &OperatorGroup, account: &str, namespace: &str) -> Option<ObjectReference> {
    let reference = group.status.as_ref()?.service_account_ref.as_ref()?;
    let is_it = reference.name.as_deref() == Some(account)
        && reference.namespace.as_deref() == Some(namespace);
    is_it.then(|| reference.clone())
}

fn has_targets(group: &OperatorGroup) -> bool {
    group.status.as_ref().is_some_and(|status| !status.namespaces.is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use olm_types::api::{OperatorGroupSpec, OperatorGroupStatus};
    use rstest::rstest;

    fn group(
        targets: &[&str],
        account: Option<&str>,
        reference: Option<&str>,
    ) -> Arc<OperatorGroup> {
        let spec = OperatorGroupSpec {
            service_account_name: account.map(str::to_owned),
            ..Default::default()
        };
        let mut group = OperatorGroup::new("og", spec);
        group.metadata.namespace = Some("ns".to_owned());
        group.status = Some(OperatorGroupStatus {
            namespaces: targets.iter().map(|target| (*target).to_owned()).collect(),
            service_account_ref: reference.map(|name| ObjectReference {
                namespace: Some("ns".to_owned()),
                name: Some(name.to_owned()),
                ..Default::default()
            }),
            ..Default::default()
        });
        Arc::new(group)
    }

    #[rstest]
    #[case::none(vec![], "no operator group found that is managing this namespace")]
    #[case::without_targets(vec![group(&[], None, None)], "no operator group found that is managing this namespace")]
    #[case::two(
        vec![group(&["ns"], None, None), group(&["ns"], None, None)],
        "more than one operator group(s) are managing this namespace count=2"
    )]
    #[case::account_without_reference(
        vec![group(&["ns"], Some("sa1"), None)],
        "please make sure the service account exists. sa=sa1 operatorgroup=ns/og"
    )]
    fn refusals(#[case] groups: Vec<Arc<OperatorGroup>>, #[case] text: &str) {
        assert_eq!(account(&groups, "ns").unwrap_err().to_string(), text);
    }

    #[rstest]
    #[case::with_an_account(Some("sa1"))]
    #[case::without_one(None)]
    fn a_group_that_goes_is_named_with_what_helps(#[case] named: Option<&str>) {
        let mut going = OperatorGroup::clone(&group(&["ns"], named, named));
        going.metadata.deletion_timestamp = Some(since());
        let text = account(&[Arc::new(going)], "ns").unwrap_err().to_string();
        let expected = "OperatorGroup og is being deleted and gives no namespaces any more; if it stays, \
            remove its metadata.finalizers, then create another one";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_group_beside_one_that_goes_counts() {
        let mut going = OperatorGroup::clone(&group(&["ns"], None, None));
        going.metadata.deletion_timestamp = Some(since());
        let groups = [Arc::new(going), group(&["ns"], Some("sa1"), Some("sa1"))];
        let found = account(&groups, "ns").unwrap().unwrap();
        assert_eq!(found.name.as_deref(), Some("sa1"));
    }

    fn since() -> k8s_openapi::apimachinery::pkg::apis::meta::v1::Time {
        k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(jiff::Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn groups_without_targets_do_not_count() {
        let groups = [group(&["ns"], None, None), group(&[], None, None)];
        assert_eq!(account(&groups, "ns"), Ok(None));
        let elsewhere = account(&groups, "other").unwrap_err();
        assert_eq!(elsewhere, AttenuationError::NoGroup, "groups of other namespaces do not count");
    }

    #[test]
    fn a_referenced_account_acts() {
        let found = account(&[group(&["ns"], Some("sa1"), Some("sa1"))], "ns").unwrap();
        assert_eq!(found.unwrap().name.as_deref(), Some("sa1"));
    }

    /// The status may say anything; the account is the spec's, in the group's namespace, or none.
    #[rstest]
    #[case::as_it_is("ns", "sa1", false, true)]
    #[case::of_another_owner("olm", "olm-operator-serviceaccount", false, false)]
    #[case::a_namesake_elsewhere("olm", "sa1", false, false)]
    #[case::another_of_the_namespace("ns", "sa2", false, false)]
    #[case::of_a_group_that_goes("ns", "sa1", true, false)]
    fn a_forged_reference_names_no_account(
        #[case] namespace: &str,
        #[case] name: &str,
        #[case] going: bool,
        #[case] acts: bool,
    ) {
        let mut group = OperatorGroup::clone(&group(&["ns"], Some("sa1"), Some(name)));
        let status = group.status.as_mut().unwrap();
        status.service_account_ref.as_mut().unwrap().namespace = Some(namespace.to_owned());
        if going {
            group.metadata.deletion_timestamp = Some(since());
        }
        let found = account(&[Arc::new(group)], "ns");
        let named = found.as_ref().ok().and_then(|found| found.as_ref()?.name.as_deref());
        assert_eq!(named, acts.then_some("sa1"));
        assert_ne!(found, Ok(None), "never the operator itself");
    }
}
