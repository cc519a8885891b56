//! Reasons of OperatorGroup conditions (spec olm-operator 4.4, 4.8).

/// MultipleOperatorGroup: another OperatorGroup is in the namespace.
pub const MULTIPLE_OPERATOR_GROUPS_FOUND: &str = "MultipleOperatorGroupsFound";
/// OperatorGroupServiceAccount: the ServiceAccount does not exist.
pub const SERVICE_ACCOUNT_NOT_FOUND: &str = "ServiceAccountNotFound";
