//! Reasons of Subscription conditions (spec catalog-operator 2.1). Phase names of InstallPlans and
//! the reasons of their conditions appear here, too; those are in [`super::install_plan`].

/// CatalogSourcesUnhealthy: there is no catalog at all.
pub const NO_CATALOG_SOURCES_FOUND: &str = "NoCatalogSourcesFound";
/// CatalogSourcesUnhealthy False: every catalog is healthy.
pub const ALL_CATALOG_SOURCES_HEALTHY: &str = "AllCatalogSourcesHealthy";
/// CatalogSourcesUnhealthy: more catalogs than before.
pub const CATALOG_SOURCES_ADDED: &str = "CatalogSourcesAdded";
/// CatalogSourcesUnhealthy: the health of a catalog changed.
pub const CATALOG_SOURCES_UPDATED: &str = "CatalogSourcesUpdated";
/// CatalogSourcesUnhealthy: fewer catalogs than before.
pub const CATALOG_SOURCES_DELETED: &str = "CatalogSourcesDeleted";
/// CatalogSourcesUnhealthy: what is reported about a change for one look, before the plain state.
pub const CATALOG_SOURCES_CHANGED: [&str; 3] =
    [CATALOG_SOURCES_ADDED, CATALOG_SOURCES_UPDATED, CATALOG_SOURCES_DELETED];
/// CatalogSourcesUnhealthy True: some catalog is unhealthy or the named one is missing.
pub const UNHEALTHY_CATALOG_SOURCE_FOUND: &str = "UnhealthyCatalogSourceFound";
/// InstallPlanMissing: the plan does not exist.
pub const REFERENCED_INSTALL_PLAN_NOT_FOUND: &str = "ReferencedInstallPlanNotFound";
/// InstallPlanPending: the plan has no phase yet.
pub const INSTALL_PLAN_NOT_YET_RECONCILED: &str = "InstallPlanNotYetReconciled";
/// InstallPlanFailed: the plan says no more than that.
pub const INSTALL_PLAN_FAILED: &str = "InstallPlanFailed";
/// ResolutionFailed: the constraints contradict each other.
pub const CONSTRAINTS_NOT_SATISFIABLE: &str = "ConstraintsNotSatisfiable";
/// ResolutionFailed: something else than the constraints stood in the way.
pub const ERROR_PREVENTED_RESOLUTION: &str = "ErrorPreventedResolution";
/// BundleUnpacking: jobs are running.
pub const UNPACKING_IN_PROGRESS: &str = "UnpackingInProgress";
/// BundleUnpackFailed: a job failed.
pub const BUNDLE_UNPACK_FAILED: &str = "BundleUnpackFailed";
/// BundleUnpackFailed: a bundle is malformed.
pub const ERROR_PREVENTED_UNPACKING: &str = "ErrorPreventedUnpacking";
/// BundleUnpackFailed: the InstallPlan could not be written.
pub const ENSURE_INSTALL_PLAN_FAILED: &str = "EnsureInstallPlanFailed";
