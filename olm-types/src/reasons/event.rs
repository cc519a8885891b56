//! Reasons of Events that no condition carries.

/// On a Namespace: resolution failed (spec catalog-operator 2.3).
pub const RESOLUTION_FAILED: &str = "ResolutionFailed";
/// On a Subscription: a bundle could not be unpacked (spec catalog-operator 2.3).
pub const BUNDLE_UNPACK_FAILED: &str = "BundleUnpackFailed";
/// On an InstallPlan: the API server warned about a step (spec catalog-operator 4.4).
pub const APPLIED_WITH_WARNINGS: &str = "AppliedWithWarnings";
/// On an InstallPlan: existing objects do not fit a new CRD, but a conversion webhook is in place (spec catalog-operator 4.5).
pub const CRD_VALIDATION: &str = "CRDValidation";
/// On an InstallPlan: a step changed an object that was there already and was not under OLM's management.
pub const OBJECT_TAKEN_OVER: &str = "ObjectTakenOver";
/// On an InstallPlan: an older plan of the same Subscription is executed first.
pub const INSTALL_PLAN_WAITING: &str = "InstallPlanWaiting";
/// On an InstallPlan: it is deleted, because what it would install is not asked for any more.
pub const INSTALL_PLAN_WITHDRAWN: &str = "InstallPlanWithdrawn";
/// On an InstallPlan: objects were written anew, so that a version of their CRD could be retired.
pub const OBJECTS_REWRITTEN: &str = "ObjectsRewritten";
/// On a Subscription: it took over a CSV that was installed already.
pub const CSV_ADOPTED: &str = "CSVAdopted";
/// On a CSV: a Deployment is deleted and made anew, because its selector cannot be changed.
pub const DEPLOYMENT_RECREATED: &str = "DeploymentRecreated";
/// On a CSV: it is not copied to target namespaces (spec olm-operator 5.2).
pub const DISABLED_COPIED_CSVS: &str = "DisabledCopiedCSVs";
