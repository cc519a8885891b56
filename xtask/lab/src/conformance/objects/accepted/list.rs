//! The list of accepted differences.
//!
//! A line needs a reason that a reader can check, and goes when it fits nothing any more.

use super::{Accepted, OnPurpose, Sides, field, object};

const OWNER_KIND: OnPurpose = OnPurpose(
    "v0 spells the kind of the owning definition in a way that the garbage collector cannot find",
);
const USER_ROLES: OnPurpose =
    OnPurpose("the recordings were made without the roles for users of OLM's own kinds");
const NO_API_LEFT: OnPurpose =
    OnPurpose("v0 leaves its last rules to the roles of a group that provides no API any more");
const HALF_LIFTED: OnPurpose = OnPurpose(
    "v0 lifts a Role before the cluster permissions, which cover it, are there, and not its binding",
);
const MOMENT: OnPurpose =
    OnPurpose("what a CSV waits for first depends on who is faster, not on the operator");
const RIGHTS_BY_HASH: OnPurpose =
    OnPurpose("v0 does not list rights that it finds by their hash; ours always lists them");
const PODS_AWAY: OnPurpose =
    OnPurpose("pods were away in the recording, though nothing had changed that concerns them");

const CONVERSION: OnPurpose = OnPurpose(
    "an InstallPlan that is not complete writes definitions without their webhook; how often a CSV \
     has to put it back depends on who is faster",
);
const AUTHORITY: OnPurpose =
    OnPurpose("it depends on the certificate authority, which is a new one each time");

/// The list, by subject.
pub(super) const ACCEPTED: &[Accepted] = &[
    field(
        "ClusterRole",
        &["metadata", "ownerReferences", "[customresourcedefinition *"],
        OWNER_KIND,
    ),
    field(
        "ClusterRole",
        &["metadata", "ownerReferences", "[CustomResourceDefinition *"],
        OWNER_KIND,
    ),
    field("ClusterRole", &["rules", "[{\"apiGroups\":[\"operators.coreos.com\"]*"], USER_ROLES)
        .where_sides(Sides::OnlyOurs),
    field(
        "ClusterRole",
        &["rules", "[{\"apiGroups\":[\"packages.operators.coreos.com\"]*"],
        USER_ROLES,
    )
    .where_sides(Sides::OnlyOurs),
    Accepted { path: &["rules"], ..object("ClusterRole", "olm.og.*", NO_API_LEFT) }
        .at("flux-all-namespaces/3"),
    object("ClusterRole", "kogito-operator.v1.4.0-d-*", HALF_LIFTED).at("kogito-operator-*"),
    field(
        "Operator",
        &["status", "components", "refs", "[ClusterRole kogito-operator.v1.4.0-d-*"],
        HALF_LIFTED,
    )
    .at("kogito-operator-*"),
    field(
        "ClusterServiceVersion",
        &["status", "conditions", "[Installing InstallWaiting]", "message"],
        MOMENT,
    ),
    field(
        "ClusterServiceVersion",
        &["status", "requirementStatus", "[ServiceAccount *"],
        RIGHTS_BY_HASH,
    )
    .where_sides(Sides::OnlyOurs),
    field("ClusterServiceVersion", &["status", "conditions"], CONVERSION).at("cert-manager-*"),
    field("Deployment", &["metadata", "labels", "olm.deployment-spec-hash"], AUTHORITY)
        .at("cert-manager-*"),
    field("Deployment", &["status", "conditions", "[Progressing]", "message"], AUTHORITY)
        .at("cert-manager-*"),
    field("Operator", &["status", "components", "refs"], AUTHORITY).at("cert-manager-*"),
    field("Deployment", &["status"], PODS_AWAY).at("flux-all-namespaces/2"),
    field("Operator", &["status", "components", "refs", "[Deployment *"], PODS_AWAY)
        .at("flux-all-namespaces/2"),
    field("Operator", &["status", "components", "refs", "[ClusterServiceVersion *"], PODS_AWAY)
        .at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "conditions"], PODS_AWAY)
        .at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "message"], PODS_AWAY).at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "phase"], PODS_AWAY).at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "reason"], PODS_AWAY).at("flux-all-namespaces/2"),
];
