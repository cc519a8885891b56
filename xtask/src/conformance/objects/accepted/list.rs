//! The list of accepted differences.
//!
//! A line needs a reason that a reader can check, and goes when it fits nothing any more.

use super::Reason::{Later, OnPurpose};
use super::{Accepted, Mark, Reason, Sides, field, object};

const GROUP_ROLES: Reason = Later("the ClusterRoles of an OperatorGroup");
const API_ROLES: Reason = Later("ClusterRoles for each provided API, and what they add to");
const COPIES: Reason = Later("copies of CSVs in the other target namespaces");
const OPERATORS: Reason = Later("Operator objects");
pub(super) const COMPONENTS: Reason = Later("the label that makes an object a part of an Operator");
const CONDITIONS: Reason = Later("OperatorConditions and the rights to write them");
const WEBHOOKS: Reason = Later("webhooks, their certificates, and CSVs that need them");
const LIFTED: Reason = Later("rights that are lifted to all namespaces");
const MOMENT: Reason =
    OnPurpose("what a CSV waits for first depends on who is faster, not on the operator");
const RIGHTS_BY_HASH: Reason =
    OnPurpose("v0 does not list rights that it finds by their hash; ours always lists them");
const PODS_AWAY: Reason =
    OnPurpose("pods were away in the recording, though nothing had changed that concerns them");

/// The list, by subject.
pub(super) const ACCEPTED: &[Accepted] = &[
    object("ClusterRole", "olm.og.*", GROUP_ROLES),
    object("ClusterRole", "*", API_ROLES)
        .marked(Mark::Label("olm.opgroup.permissions/aggregate-to-*")),
    object("ClusterRole", "admin", API_ROLES),
    object("ClusterRole", "edit", API_ROLES),
    object("ClusterRole", "view", API_ROLES),
    object("ClusterServiceVersion", "*", COPIES).marked(Mark::Label("olm.copiedFrom")),
    object("Operator", "*", OPERATORS),
    field("*", &["metadata", "labels", "operators.coreos.com/*"], COMPONENTS),
    object("OperatorCondition", "*", CONDITIONS),
    object("Role", "*", CONDITIONS).marked(Mark::Owner("OperatorCondition")),
    object("RoleBinding", "*", CONDITIONS).marked(Mark::Owner("OperatorCondition")),
    // Webhooks. The CSV of cert-manager is refused as a whole, and nothing of it is installed.
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
    object("ClusterRole", "cert-manager.v1.4.0-cert-*", LIFTED).at("cert-manager-*"),
    object("ClusterRoleBinding", "cert-manager.v1.4.0-cert-*", LIFTED).at("cert-manager-*"),
    object("ClusterRole", "kogito-operator.v1.4.0-d-*", LIFTED).at("kogito-operator-*"),
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
