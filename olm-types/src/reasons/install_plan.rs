//! Reasons of the InstallPlan condition `Installed` and of bundle lookups (spec catalog-operator 4, 5).

/// Nothing is known about the plan.
pub const PLAN_UNKNOWN: &str = "PlanUnknown";
/// A precondition does not hold: OperatorGroup or ServiceAccount.
pub const INSTALL_CHECK_FAILED: &str = "InstallCheckFailed";
/// Part of the API, never set.
pub const DEPENDENCIES_CONFLICT: &str = "DependenciesConflict";
/// A step failed.
pub const INSTALL_COMPONENT_FAILED: &str = "InstallComponentFailed";
/// Written when a failed precondition holds again.
pub const UNKNOWN: &str = "Unknown";

/// BundleLookupPending: the CatalogSource of the bundle does not exist.
pub const CATALOG_SOURCE_MISSING: &str = "CatalogSourceMissing";
/// BundleLookupPending: the unpack job is not done.
pub const JOB_INCOMPLETE: &str = "JobIncomplete";
/// BundleLookupPending: the unpack job does not exist yet.
pub const JOB_NOT_STARTED: &str = "JobNotStarted";
/// BundleLookupNotPersisted: the content of the bundle is not yet among the plan's steps.
pub const BUNDLE_NOT_UNPACKED: &str = "BundleNotUnpacked";

/// StepsAttested: the operator found the steps itself.
pub const RESOLVED: &str = "Resolved";
