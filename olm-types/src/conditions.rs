//! Condition types, one module per kind. Types are wire contract: users and tools read them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

/// Puts the condition in the place of the one of its type, or at the end. The transition time of a
/// condition that is there stays while its status does.
pub fn set_condition(conditions: &mut Vec<Condition>, desired: Condition) {
    match conditions.iter_mut().find(|known| known.type_ == desired.type_) {
        Some(known) => {
            let since = known.last_transition_time.clone();
            let is_same = known.status == desired.status;
            *known = desired;
            if is_same {
                known.last_transition_time = since;
            }
        }
        None => conditions.push(desired),
    }
}

/// Conditions of any kind, as all tools understand them (kstatus). v0's kinds have none of them.
pub mod readiness {
    /// What the spec asks for is there.
    pub const READY: &str = "Ready";
    /// It is being worked on; there only while it is true.
    pub const RECONCILING: &str = "Reconciling";
    /// It will not be there as things are; there only while it is true.
    pub const STALLED: &str = "Stalled";
    /// All of them.
    pub const ALL: [&str; 3] = [READY, RECONCILING, STALLED];
}

/// Conditions in `Subscription.status.conditions` (spec catalog-operator 2.1).
pub mod subscription {
    /// A catalog that the Subscription may use is unhealthy, or the one it names is missing.
    pub const CATALOG_SOURCES_UNHEALTHY: &str = "CatalogSourcesUnhealthy";
    /// The InstallPlan that the status names does not exist.
    pub const INSTALL_PLAN_MISSING: &str = "InstallPlanMissing";
    /// The InstallPlan is not complete.
    pub const INSTALL_PLAN_PENDING: &str = "InstallPlanPending";
    /// The InstallPlan failed.
    pub const INSTALL_PLAN_FAILED: &str = "InstallPlanFailed";
    /// Nothing that satisfies all Subscriptions of the namespace was found.
    pub const RESOLUTION_FAILED: &str = "ResolutionFailed";
    /// There is a newer bundle, and something stands in the way of the upgrade. v0 has no word
    /// for it.
    pub const UPGRADE_BLOCKED: &str = "UpgradeBlocked";
    /// Bundles are being unpacked.
    pub const BUNDLE_UNPACKING: &str = "BundleUnpacking";
    /// A bundle could not be unpacked.
    pub const BUNDLE_UNPACK_FAILED: &str = "BundleUnpackFailed";
    /// An annotation of ours cannot be read, so that it declares nothing. v0 has no such
    /// annotations.
    pub const ANNOTATIONS_INVALID: &str = "AnnotationsInvalid";
    /// An annotation of ours holds back what could be installed or upgraded. v0 has no such annotations.
    pub const UPGRADE_HELD: &str = "UpgradeHeld";
    /// Package, channel or installed bundle is deprecated.
    pub const DEPRECATED: &str = "Deprecated";
    /// The package is deprecated.
    pub const PACKAGE_DEPRECATED: &str = "PackageDeprecated";
    /// The channel is deprecated.
    pub const CHANNEL_DEPRECATED: &str = "ChannelDeprecated";
    /// The installed bundle is deprecated.
    pub const BUNDLE_DEPRECATED: &str = "BundleDeprecated";
    /// Those that v0 does not know, and would leave as they are.
    pub const OURS: [&str; 6] = [
        super::readiness::READY,
        super::readiness::RECONCILING,
        super::readiness::STALLED,
        UPGRADE_BLOCKED,
        ANNOTATIONS_INVALID,
        UPGRADE_HELD,
    ];
}

/// Conditions in `InstallPlan.status.conditions` (spec catalog-operator 4).
pub mod install_plan {
    /// All steps of the plan are done.
    pub const INSTALLED: &str = "Installed";
    /// Under the strict tenant policy of ours: the steps are those that the operator found. The
    /// message is the mark by which it knows them again.
    pub const STEPS_ATTESTED: &str = "StepsAttested";
}

/// Conditions in `InstallPlan.status.bundleLookups[].conditions` (spec catalog-operator 5).
pub mod bundle_lookup {
    /// The bundle is not unpacked yet.
    pub const PENDING: &str = "BundleLookupPending";
    /// Unpacking the bundle failed.
    pub const FAILED: &str = "BundleLookupFailed";
    /// The content of the bundle is not yet part of the plan's steps.
    pub const NOT_PERSISTED: &str = "BundleLookupNotPersisted";
}

/// Conditions in `CatalogSource.status.conditions` (spec catalog-operator 1.9).
pub mod catalog_source {
    /// All variables of the image template have values.
    pub const TEMPLATES_HAVE_RESOLVED: &str = "TemplatesHaveResolved";
    /// The image reference that came out of the template.
    pub const RESOLVED_IMAGE: &str = "ResolvedImage";
    /// Whether resolution uses what the catalog holds now; there only while it is false. v0 has no
    /// word for it.
    pub const CONTENT_CURRENT: &str = "ContentCurrent";
    /// Whether the packages API shows all that the catalog holds; there only while it is false. v0 has
    /// no word for it.
    pub const PACKAGES_SHOWN: &str = "PackagesShown";
    /// Whether the last look for a newer image succeeded; there only while it is false. v0 has no
    /// word for it.
    pub const IMAGE_POLLED: &str = "ImagePolled";
    /// Whether the operator serves the catalog itself, as it was asked to; there only while it is false. v0
    /// has no word for it.
    pub const SERVED_IN_PROCESS: &str = "ServedInProcess";
    /// Whether the spec's settings of Pods have an effect; there only while it is false. v0 has no word for
    /// it.
    pub const POD_SETTINGS_USED: &str = "PodSettingsUsed";
    /// Those that v0 does not know, and would leave as they are.
    pub const OURS: [&str; 8] = [
        super::readiness::READY,
        super::readiness::RECONCILING,
        super::readiness::STALLED,
        CONTENT_CURRENT,
        PACKAGES_SHOWN,
        IMAGE_POLLED,
        SERVED_IN_PROCESS,
        POD_SETTINGS_USED,
    ];
}

/// Conditions in `OperatorGroup.status.conditions` (spec olm-operator 4.4 and 4.8).
pub mod operator_group {
    /// The namespace holds more than one OperatorGroup.
    pub const MULTIPLE_OPERATOR_GROUP: &str = "MultipleOperatorGroup";
    /// The ServiceAccount that the spec names has a problem.
    pub const SERVICE_ACCOUNT: &str = "OperatorGroupServiceAccount";
    /// The selection of namespaces does not count. v0 reports this only in its log.
    pub const INVALID_TARGETS: &str = "InvalidTargetNamespaces";
}

/// Conditions of OperatorConditions (spec olm-operator 6.4).
pub mod operator_condition {
    /// Whether the operator may be upgraded now.
    pub const UPGRADEABLE: &str = "Upgradeable";
}

/// Conditions in `OLMConfig.status.conditions` (spec olm-operator 5.6).
pub mod olm_config {
    /// Whether copied CSVs are switched off and gone.
    pub const DISABLED_COPIED_CSVS: &str = "DisabledCopiedCSVs";
}

/// Condition types of Kubernetes' own kinds that OLM reads.
pub mod kubernetes {
    /// CustomResourceDefinition: the API is served.
    pub const ESTABLISHED: &str = "Established";
    /// CustomResourceDefinition: no other CRD holds its names.
    pub const NAMES_ACCEPTED: &str = "NamesAccepted";
    /// Deployment and APIService: usable.
    pub const AVAILABLE: &str = "Available";
    /// Deployment: the rollout moves.
    pub const PROGRESSING: &str = "Progressing";
    /// Pod: ready to serve.
    pub const READY: &str = "Ready";
    /// Pod: has a node.
    pub const POD_SCHEDULED: &str = "PodScheduled";
    /// Pod: about to be ended by a disruption.
    pub const DISRUPTION_TARGET: &str = "DisruptionTarget";
    /// Job: finished well.
    pub const COMPLETE: &str = "Complete";
    /// Job: gave up.
    pub const FAILED: &str = "Failed";
}
