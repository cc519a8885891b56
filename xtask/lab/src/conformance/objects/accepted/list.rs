//! The list of accepted differences.
//!
//! A line needs a reason that a reader can check, and goes when it fits nothing any more.

use super::{Accepted, IntendedDifference, Sides, field, object};

const OWNER_KIND: IntendedDifference = IntendedDifference(
    "v0 spells the kind of the owning definition in a way that the garbage collector cannot find",
);
const USER_ROLES: IntendedDifference =
    IntendedDifference("the recordings were made without the roles for users of OLM's own kinds");
const NO_API_LEFT: IntendedDifference = IntendedDifference(
    "v0 leaves its last rules to the roles of a group that provides no API any more",
);
const HALF_LIFTED: IntendedDifference = IntendedDifference(
    "v0 lifts a Role before the cluster permissions, which cover it, are there, and not its binding",
);
const MOMENT: IntendedDifference =
    IntendedDifference("what a CSV waits for first depends on who is faster, not on the operator");
const RIGHTS_BY_HASH: IntendedDifference = IntendedDifference(
    "v0 does not list rights that it finds by their hash; ours always lists them",
);
const PODS_AWAY: IntendedDifference = IntendedDifference(
    "pods were away in the recording, though nothing had changed that concerns them",
);

const CONVERSION: IntendedDifference = IntendedDifference(
    "an InstallPlan that is not complete writes definitions without their webhook; how often a CSV \
     has to put it back depends on who is faster",
);
const AUTHORITY: IntendedDifference =
    IntendedDifference("it depends on the certificate authority, which is a new one each time");

const READINESS: IntendedDifference =
    IntendedDifference("v0 does not say whether a Subscription or a CatalogSource is ready");

/// The list, by subject.
pub(super) const ACCEPTED: &[Accepted] = &[
    field("Subscription", &["status", "conditions", "[Ready]"], READINESS)
        .where_sides(Sides::OnlyOurs),
    field("Subscription", &["status", "conditions", "[Reconciling]"], READINESS)
        .where_sides(Sides::OnlyOurs),
    field("Subscription", &["status", "conditions", "[Stalled]"], READINESS)
        .where_sides(Sides::OnlyOurs),
    field("Subscription", &["status", "observedGeneration"], READINESS)
        .where_sides(Sides::OnlyOurs),
    field("CatalogSource", &["status", "conditions"], READINESS).where_sides(Sides::OnlyOurs),
    field("CatalogSource", &["status", "observedGeneration"], READINESS)
        .where_sides(Sides::OnlyOurs),
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
    object("ClusterRole", "kogito-operator.v1.4.0-d-*", HALF_LIFTED)
        .where_sides(Sides::OnlyV0)
        .at("kogito-operator-manual-approval-of-startingcsv/2"),
    field(
        "Operator",
        &["status", "components", "refs", "[ClusterRole kogito-operator.v1.4.0-d-*"],
        HALF_LIFTED,
    )
    .where_sides(Sides::OnlyV0)
    .at("kogito-operator-manual-approval-of-startingcsv/2"),
    field(
        "ClusterServiceVersion",
        &["status", "conditions", "[Installing InstallWaiting]", "message"],
        MOMENT,
    )
    .where_sides(Sides::Are(WAITING, WAITING)),
    field(
        "ClusterServiceVersion",
        &["status", "conditions", "[Pending RequirementsNotMet]"],
        MOMENT,
    )
    .where_sides(Sides::OnlyV0)
    .at("kogito-operator-manual-approval-of-startingcsv/2"),
    field(
        "ClusterServiceVersion",
        &["status", "requirementStatus", "[ServiceAccount *"],
        RIGHTS_BY_HASH,
    )
    .where_sides(Sides::OnlyOurs),
    field(
        "ClusterServiceVersion",
        &["status", "conditions", "[InstallReady InstallWaiting]"],
        CONVERSION,
    )
    .where_sides(Sides::OnlyV0)
    .at("cert-manager-*"),
    field(
        "ClusterServiceVersion",
        &["status", "conditions", "[Installing InstallSucceeded]"],
        CONVERSION,
    )
    .where_sides(Sides::OnlyV0)
    .at("cert-manager-*"),
    Accepted {
        path: &["metadata", "labels", "olm.deployment-spec-hash"],
        ..object("Deployment", "cert-manager-webhook", AUTHORITY)
    },
    Accepted {
        path: &["status", "conditions", "[Progressing]", "message"],
        ..object("Deployment", "cert-manager-webhook", AUTHORITY)
    }
    .where_sides(Sides::Are(WEBHOOKS_PROGRESS, WEBHOOKS_PROGRESS)),
    field("Operator", WEBHOOK_LISTED, AUTHORITY)
        .where_sides(Sides::Are(WEBHOOKS_PROGRESS, WEBHOOKS_PROGRESS)),
    field("Deployment", &["status", "availableReplicas"], PODS_AWAY).in_flux("-", "1"),
    field("Deployment", &["status", "readyReplicas"], PODS_AWAY).in_flux("-", "1"),
    field("Deployment", &["status", "unavailableReplicas"], PODS_AWAY).in_flux("1", "-"),
    field("Deployment", &["status", "conditions", "(order)"], PODS_AWAY).in_flux(AWAY[0], AWAY[1]),
    field("Deployment", &["status", "conditions", "[Available]", "status"], PODS_AWAY)
        .in_flux("\"False\"", "\"True\""),
    field("Deployment", &["status", "conditions", "[Available]", "reason"], PODS_AWAY)
        .in_flux(REASON[0], REASON[1]),
    field("Deployment", &["status", "conditions", "[Available]", "message"], PODS_AWAY)
        .in_flux(MESSAGE[0], MESSAGE[1]),
    listed(&["status", "components", "refs", "[Deployment *", "conditions", "(order)"])
        .in_flux(AWAY[0], AWAY[1]),
    listed(&[
        "status",
        "components",
        "refs",
        "[Deployment *",
        "conditions",
        "[Available]",
        "status",
    ])
    .in_flux("\"False\"", "\"True\""),
    listed(&[
        "status",
        "components",
        "refs",
        "[Deployment *",
        "conditions",
        "[Available]",
        "reason",
    ])
    .in_flux(REASON[0], REASON[1]),
    listed(&[
        "status",
        "components",
        "refs",
        "[Deployment *",
        "conditions",
        "[Available]",
        "message",
    ])
    .in_flux(MESSAGE[0], MESSAGE[1]),
    listed(&["status", "components", "refs", FLUX_CSV, "conditions", "[Installing]"])
        .in_flux("*", "-"),
    listed(&["status", "components", "refs", FLUX_CSV, "conditions", "[Succeeded]"])
        .in_flux("-", "*"),
    field("ClusterServiceVersion", &["status", "conditions"], PODS_AWAY).in_flux("*", "-"),
    field("ClusterServiceVersion", &["status", "phase"], PODS_AWAY)
        .in_flux("\"Installing\"", "\"Succeeded\""),
    field("ClusterServiceVersion", &["status", "reason"], PODS_AWAY)
        .in_flux("\"InstallWaiting\"", "\"InstallSucceeded\""),
    field("ClusterServiceVersion", &["status", "message"], PODS_AWAY)
        .in_flux(WAITING, "\"install strategy completed with no errors\""),
];

/// What a CSV waits for.
const WAITING: &str = "\"installing: waiting for deployment *\"";

/// The Deployment whose Pods carry the hash of their certificate authority.
const WEBHOOKS_PROGRESS: &str =
    "\"ReplicaSet \\\"cert-manager-webhook-*\\\" has successfully progressed.\"";
const WEBHOOK_LISTED: &[&str] = &[
    "status",
    "components",
    "refs",
    "[Deployment cert-manager-webhook]",
    "conditions",
    "[Progressing]",
    "message",
];

const FLUX_CSV: &str = "[ClusterServiceVersion flux.v0.16.1]";

/// What a Deployment says in v0 while its Pods are away, and here.
const AWAY: [&str; 2] = ["[\"Progressing\",\"Available\"]", "[\"Available\",\"Progressing\"]"];
const REASON: [&str; 2] = ["\"MinimumReplicasUnavailable\"", "\"MinimumReplicasAvailable\""];
const MESSAGE: [&str; 2] = [
    "\"Deployment does not have minimum availability.\"",
    "\"Deployment has minimum availability.\"",
];

/// A line about what the Operator of flux lists.
const fn listed(path: &'static [&'static str]) -> Accepted {
    field("Operator", path, PODS_AWAY)
}

impl Accepted {
    /// Only when Pods were away in the recording, and only these values.
    const fn in_flux(self, v0: &'static str, ours: &'static str) -> Self {
        self.where_sides(Sides::Are(v0, ours)).at("flux-all-namespaces/2")
    }
}
