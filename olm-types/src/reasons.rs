//! Reasons in statuses, conditions and events, verbatim as users and tools read them.
//!
//! One module per kind. API types hold reasons as plain strings, so that an unknown one survives.

/// Reasons in `CatalogSource.status.reason` and its conditions (spec catalog-operator 1.1, 1.9).
pub mod catalog_source {
    /// Ready: the registry server answers.
    pub const CONNECTED: &str = "Connected";
    /// Ready False: the registry server is started, or a connection is made.
    pub const CONNECTING: &str = "Connecting";
    /// The spec cannot work; waits for a change of the spec.
    pub const SPEC_INVALID_ERROR: &str = "SpecInvalidError";
    /// The ConfigMap of the catalog is missing or unusable.
    pub const CONFIG_MAP_ERROR: &str = "ConfigMapError";
    /// The registry server cannot be created or reached.
    pub const REGISTRY_SERVER_ERROR: &str = "RegistryServerError";
    /// The polling interval is not a duration.
    pub const INVALID_INTERVAL_ERROR: &str = "InvalidIntervalError";
    /// Image template: every variable has a value.
    pub const ALL_TEMPLATES_RESOLVED: &str = "AllTemplatesResolved";
    /// Image template: a variable has no value or the result is not an image reference.
    pub const UNABLE_TO_RESOLVE: &str = "UnableToResolve";
    /// Content: the registry server does not answer.
    pub const UNREACHABLE: &str = "CatalogUnreachable";
    /// Content: the registry server answers, and what it gives cannot be used.
    pub const NOT_READABLE: &str = "CatalogNotReadable";
    /// Content: the registry server does not answer because its Pod does not come up.
    pub const POD_FAILING: &str = "RegistryPodFailing";
    /// Packages: there is no memory for more of them.
    pub const TOO_LARGE: &str = "PackagesTooLarge";
    /// Polling: the Pod that was to show the newest image did not come up.
    pub const UPDATE_POD_FAILED: &str = "UpdatePodFailed";
    /// Settings of Pods: there is no Pod, as the operator serves the catalog itself.
    pub const SERVED_IN_PROCESS: &str = "ServedInProcess";
    /// Serving in process: there is no port for it.
    pub const NO_PORT: &str = "NoPort";
    /// An image in a registry: it has no file-based catalog.
    pub const NOT_FILE_BASED: &str = "NotFileBased";
    /// The same: the registry cannot be reached, or does not answer in time.
    pub const REGISTRY_UNAVAILABLE: &str = "RegistryUnavailable";
    /// The same: the content is not what its digest says.
    pub const DIGEST_MISMATCH: &str = "DigestMismatch";
    /// The same: it cannot be kept.
    pub const STORAGE_FAILED: &str = "StorageFailed";
    /// The same: the operator made an error.
    pub const INTERNAL_ERROR: &str = "InternalError";
}

/// Reasons of ClusterServiceVersions (spec olm-operator 1.1).
pub mod csv {
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
}

/// Reasons of Events that no condition carries.
pub mod event {
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
    /// On an InstallPlan: a dependency is not created, because the namespace holds a copy of it.
    pub const COPY_KEPT: &str = "CopyKept";
    /// On an InstallPlan: an older plan of the same Subscription is executed first.
    pub const INSTALL_PLAN_WAITING: &str = "InstallPlanWaiting";
    /// On an InstallPlan: it begins to wait for approval.
    pub const REQUIRES_APPROVAL: &str = "RequiresApproval";
    /// On an InstallPlan: annotations of its Subscriptions approved it.
    pub const INSTALL_PLAN_APPROVED: &str = "InstallPlanApproved";
    /// On an InstallPlan: it is deleted, because what it would install is not asked for any more.
    pub const INSTALL_PLAN_WITHDRAWN: &str = "InstallPlanWithdrawn";
    /// On an InstallPlan: objects were written anew, so that a version of their CRD could be retired.
    pub const OBJECTS_REWRITTEN: &str = "ObjectsRewritten";
    /// On an InstallPlan: a definition is left as it is, because an administrator's operator owns it.
    pub const DEFINITION_KEPT: &str = "DefinitionKept";
    /// On a Subscription: it took over a CSV that was installed already.
    pub const CSV_ADOPTED: &str = "CSVAdopted";
    /// On a CSV: a Deployment is deleted and made anew, because its selector cannot be changed.
    pub const DEPLOYMENT_RECREATED: &str = "DeploymentRecreated";
    /// On a CSV: it is not copied to target namespaces (spec olm-operator 5.2).
    pub const DISABLED_COPIED_CSVS: &str = "DisabledCopiedCSVs";
}

/// Reasons of the InstallPlan condition `Installed` and of bundle lookups (spec catalog-operator 4, 5).
pub mod install_plan {
    /// A precondition does not hold: OperatorGroup or ServiceAccount.
    pub const INSTALL_CHECK_FAILED: &str = "InstallCheckFailed";
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
}

/// Reasons of OLMConfig conditions (spec olm-operator 5.6).
pub mod olm_config {
    /// CSVs are copied to target namespaces.
    pub const COPIED_CSVS_ENABLED: &str = "CopiedCSVsEnabled";
    /// CSVs of global OperatorGroups are not copied.
    pub const COPIED_CSVS_DISABLED: &str = "CopiedCSVsDisabled";
}

/// Reasons of OperatorGroup conditions (spec olm-operator 4.4, 4.8).
pub mod operator_group {
    /// MultipleOperatorGroup: another OperatorGroup is in the namespace.
    pub const MULTIPLE_OPERATOR_GROUPS_FOUND: &str = "MultipleOperatorGroupsFound";
    /// OperatorGroupServiceAccount: the ServiceAccount does not exist.
    pub const SERVICE_ACCOUNT_NOT_FOUND: &str = "ServiceAccountNotFound";
    /// InvalidTargetNamespaces: the selection cannot be read.
    pub const INVALID_SPEC: &str = "InvalidSpec";
    /// InvalidTargetNamespaces: the strict tenant policy forbids the selection.
    pub const TARGETS_NOT_ALLOWED: &str = "TargetsNotAllowed";
}

/// Reasons of Subscription conditions (spec catalog-operator 2.1). Phase names of InstallPlans and
/// the reasons of their conditions appear here, too; those are in [`install_plan`].
pub mod subscription {
    /// Ready: the installed CSV has succeeded, and nothing that is asked for is to come.
    pub const SUCCEEDED: &str = "Succeeded";
    /// Ready False: the first version, or the next one, is being installed.
    pub const INSTALLING: &str = "Installing";
    /// Ready False: another version is on its way.
    pub const UPGRADING: &str = "Upgrading";
    /// Ready False: the installed CSV was deleted.
    pub const CSV_MISSING: &str = "CSVMissing";
    /// AnnotationsInvalid: the message says which one, and how it is written.
    pub const MALFORMED_VALUE: &str = "MalformedValue";
    /// UpgradeHeld: annotation `olm-rs.dev/pause`.
    pub const PAUSED: &str = "Paused";
    /// UpgradeHeld: annotation `olm-rs.dev/pin`.
    pub const PINNED: &str = "Pinned";
    /// UpgradeHeld: annotation `olm-rs.dev/version-range`.
    pub const VERSION_RANGE: &str = "VersionRange";
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
}
