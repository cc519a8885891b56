//! Which account executes the steps of a plan (spec catalog-operator 4.3, step 2).

use k8s_openapi::api::core::v1::ObjectReference;
use olm_types::api::OperatorGroup;

/// Why it cannot be said who executes the steps. Every variant goes away when OperatorGroups
/// change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttenuationError {
    /// No OperatorGroup has target namespaces yet.
    #[error("no operator group found that is managing this namespace")]
    NoGroup,
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

/// The ServiceAccount that executes the steps; none when the operator itself does. `groups` are
/// the OperatorGroups of the plan's namespace.
pub fn account<G: AsRef<OperatorGroup>>(
    groups: &[G],
) -> Result<Option<ObjectReference>, AttenuationError> {
    let managing: Vec<&OperatorGroup> =
        groups.iter().map(AsRef::as_ref).filter(|group| has_targets(group)).collect();
    let group = match managing.as_slice() {
        [] => return Err(AttenuationError::NoGroup),
        [group] => group,
        several => return Err(AttenuationError::SeveralGroups(several.len())),
    };
    let Some(account) = group.spec.service_account_name.as_deref().filter(|name| !name.is_empty())
    else {
        return Ok(None);
    };
    let reference = group.status.as_ref().and_then(|status| status.service_account_ref.clone());
    reference.map(Some).ok_or_else(|| AttenuationError::NoAccount {
        account: account.to_owned(),
        namespace: group.metadata.namespace.clone().unwrap_or_default(),
        group: group.metadata.name.clone().unwrap_or_default(),
    })
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
            service_account_ref: reference
                .map(|name| ObjectReference { name: Some(name.to_owned()), ..Default::default() }),
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
        assert_eq!(account(&groups).unwrap_err().to_string(), text);
    }

    #[test]
    fn groups_without_targets_do_not_count() {
        let groups = [group(&["ns"], None, None), group(&[], None, None)];
        assert_eq!(account(&groups), Ok(None));
    }

    #[test]
    fn a_referenced_account_acts() {
        let found = account(&[group(&["ns"], Some("sa1"), Some("sa1"))]).unwrap();
        assert_eq!(found.unwrap().name.as_deref(), Some("sa1"));
    }
}
