//! The list of accepted differences.
//!
//! A line needs a reason that a reader can check, and goes when it fits nothing any more.

use super::Reason::{Later, OnPurpose};
use super::{Accepted, Mark, Reason, Sides, field, object};

const OPERATORS: Reason = Later("Operator objects");
pub(super) const COMPONENTS: Reason = Later("the label that makes an object a part of an Operator");
const CONDITIONS: Reason = Later("OperatorConditions and the rights to write them");
const WEBHOOKS: Reason = Later("webhooks, their certificates, and CSVs that need them");
const OWNER_KIND: Reason = OnPurpose(
    "v0 spells the kind of the owning definition in a way that the garbage collector cannot find",
);
const USER_ROLES: Reason =
    OnPurpose("the recordings were made without the roles for users of OLM's own kinds");
const NO_API_LEFT: Reason =
    OnPurpose("v0 leaves its last rules to the roles of a group that provides no API any more");
const HALF_LIFTED: Reason = OnPurpose(
    "v0 lifts a Role before the cluster permissions, which cover it, are there, and not its binding",
);
const MOMENT: Reason =
    OnPurpose("what a CSV waits for first depends on who is faster, not on the operator");
const RIGHTS_BY_HASH: Reason =
    OnPurpose("v0 does not list rights that it finds by their hash; ours always lists them");
const PODS_AWAY: Reason =
    OnPurpose("pods were away in the recording, though nothing had changed that concerns them");

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
    object("Operator", "*", OPERATORS),
    field("*", &["metadata", "labels", "operators.coreos.com/*"], COMPONENTS),
    object("OperatorCondition", "*", CONDITIONS),
    object("Role", "*", CONDITIONS).marked(Mark::Owner("OperatorCondition")),
    object("RoleBinding", "*", CONDITIONS).marked(Mark::Owner("OperatorCondition")),
    // Webhooks. The CSV of cert-manager is refused as a whole, and nothing of it is installed.
    object("ClusterRole", "*", WEBHOOKS)
        .marked(Mark::Label("olm.opgroup.permissions/aggregate-to-*"))
        .at("cert-manager-*"),
    field("ClusterRole", &["rules"], WEBHOOKS).at("cert-manager-*"),
    object("MutatingWebhookConfiguration", "*", WEBHOOKS),
    object("ValidatingWebhookConfiguration", "*", WEBHOOKS),
    object("Secret", "*-service-cert", WEBHOOKS),
    object("Role", "*-service-cert", WEBHOOKS),
    object("RoleBinding", "*-service-cert", WEBHOOKS),
    object("Service", "*-webhook-service", WEBHOOKS),
    object("ClusterRoleBinding", "*-webhook-service-system:auth-delegator", WEBHOOKS),
    object("RoleBinding", "*-webhook-service-auth-reader", WEBHOOKS),
    field("CustomResourceDefinition", &["spec", "conversion"], WEBHOOKS),
    object("Deployment", "*", WEBHOOKS).at("cert-manager-*"),
    field("ClusterServiceVersion", &["status"], WEBHOOKS).at("cert-manager-*"),
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
    field("Deployment", &["status"], PODS_AWAY).at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "conditions"], PODS_AWAY)
        .at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "message"], PODS_AWAY).at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "phase"], PODS_AWAY).at("flux-all-namespaces/2"),
    field("ClusterServiceVersion", &["status", "reason"], PODS_AWAY).at("flux-all-namespaces/2"),
];
