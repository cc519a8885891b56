//! Reasons of ClusterServiceVersions (spec olm-operator 1.1).

/// Requirements were not checked yet.
pub const REQUIREMENTS_UNKNOWN: &str = "RequirementsUnknown";
/// A requirement is missing.
pub const REQUIREMENTS_NOT_MET: &str = "RequirementsNotMet";
/// All requirements are there.
pub const ALL_REQUIREMENTS_MET: &str = "AllRequirementsMet";
/// Another CSV owns an API of this one.
pub const OWNER_CONFLICT: &str = "OwnerConflict";
/// Installing a component failed; it is tried again.
pub const INSTALL_COMPONENT_FAILED: &str = "InstallComponentFailed";
/// Installing a component was forbidden; tried again only after rights in the namespace changed.
pub const INSTALL_COMPONENT_FAILED_NO_RETRY: &str = "InstallComponentFailedNoRetry";
/// The install strategy is unusable.
pub const INVALID_INSTALL_STRATEGY: &str = "InvalidInstallStrategy";
/// Components are not healthy yet.
pub const INSTALL_WAITING: &str = "InstallWaiting";
/// Components are installed.
pub const INSTALL_SUCCEEDED: &str = "InstallSucceeded";
/// The health of components could not be established, or not in time.
pub const INSTALL_CHECK_FAILED: &str = "InstallCheckFailed";
/// A component of an installed CSV became unhealthy.
pub const COMPONENT_UNHEALTHY: &str = "ComponentUnhealthy";
/// A newer CSV is taking over.
pub const BEING_REPLACED: &str = "BeingReplaced";
/// A newer CSV has taken over.
pub const REPLACED: &str = "Replaced";
/// Components have to be installed again.
pub const NEEDS_REINSTALL: &str = "NeedsReinstall";
/// Serving certificates have to be renewed.
pub const NEEDS_CERT_ROTATION: &str = "NeedsCertRotation";
/// A resource behind an owned APIService is wrong.
pub const API_SERVICE_RESOURCE_ISSUE: &str = "APIServiceResourceIssue";
/// Resources behind an owned APIService have to be installed again.
pub const API_SERVICE_RESOURCES_NEED_REINSTALL: &str = "APIServiceResourcesNeedReinstall";
/// An owned APIService could not be installed.
pub const API_SERVICE_INSTALL_FAILED: &str = "APIServiceInstallFailed";
/// The CSV is a copy.
pub const COPIED: &str = "Copied";
/// `spec.installModes` contradicts itself.
pub const INVALID_INSTALL_MODES: &str = "InvalidInstallModes";
/// The OperatorGroup selects no namespace.
pub const NO_TARGET_NAMESPACES: &str = "NoTargetNamespaces";
/// The CSV does not support the OperatorGroup's choice of namespaces.
pub const UNSUPPORTED_OPERATOR_GROUP: &str = "UnsupportedOperatorGroup";
/// The namespace has no OperatorGroup.
pub const NO_OPERATOR_GROUP: &str = "NoOperatorGroup";
/// The namespace has several OperatorGroups.
pub const TOO_MANY_OPERATOR_GROUPS: &str = "TooManyOperatorGroups";
/// An intersecting OperatorGroup already provides an API of this CSV.
pub const INTER_OPERATOR_GROUP_OWNER_CONFLICT: &str = "InterOperatorGroupOwnerConflict";
/// The OperatorGroup's list of provided APIs is fixed and does not fit this CSV.
pub const CANNOT_MODIFY_STATIC_OPERATOR_GROUP_PROVIDED_APIS: &str =
    "CannotModifyStaticOperatorGroupProvidedAPIs";
/// Something in the cluster changed that may make a forbidden install possible.
pub const DETECTED_CLUSTER_CHANGE: &str = "DetectedClusterChange";
/// A webhook description is not allowed.
pub const INVALID_WEBHOOK_DESCRIPTION: &str = "InvalidWebhookDescription";
/// The OperatorCondition of the replaced CSV forbids the upgrade now.
pub const OPERATOR_CONDITION_NOT_UPGRADEABLE: &str = "OperatorConditionNotUpgradeable";
/// Under the strict tenant policy of ours: the CSV reaches beyond its namespace, and its namespaces
/// do not allow it.
pub const NOT_ALLOWED_BY_TENANT_POLICY: &str = "NotAllowedByTenantPolicy";
/// Part of the API, never set.
pub const WAITING_ON_CLEANUP: &str = "WaitingOnCleanup";
