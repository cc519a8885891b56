//! Reasons of OperatorGroup conditions (spec olm-operator 4.4, 4.8).

/// MultipleOperatorGroup: another OperatorGroup is in the namespace.
pub const MULTIPLE_OPERATOR_GROUPS_FOUND: &str = "MultipleOperatorGroupsFound";
/// OperatorGroupServiceAccount: the ServiceAccount does not exist.
pub const SERVICE_ACCOUNT_NOT_FOUND: &str = "ServiceAccountNotFound";
/// InvalidTargetNamespaces: the selection cannot be read.
pub const INVALID_SPEC: &str = "InvalidSpec";
/// InvalidTargetNamespaces: the strict tenant policy forbids the selection.
pub const TARGETS_NOT_ALLOWED: &str = "TargetsNotAllowed";
