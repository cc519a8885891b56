//! What olm-operator does.

use super::{
    ASKED_BY_SERVER, ESCALATE, EVENTS, NEW_LEASE, OLM, RBAC, Right, TOKENS, WATCH, unconfirmed,
};

/// Why scrapers are not authenticated.
const WITHOUT_TLS: &str = "scenarios scrape without TLS; olm-kit admin/tests/tls.rs";

const OPENSHIFT: &str = "the kind is one of OpenShift, which scenarios have no cluster of";

pub(super) const RIGHTS: &[Right] = &[
    // Its own kinds.
    Right::new(
        OLM,
        &[
            "clusterserviceversions",
            "installplans",
            "olmconfigs",
            "operatorconditions",
            "operatorgroups",
            "operators",
            "subscriptions",
        ],
        WATCH,
        "every decision reads them from a watch",
    ),
    Right::new(
        OLM,
        &["clusterserviceversions"],
        &["get", "create", "update", "patch", "delete"],
        "copies them into target namespaces, gives them finalizers and annotations, deletes the replaced",
    ),
    Right::new(
        OLM,
        &[
            "clusterserviceversions/status",
            "operatorconditions/status",
            "operatorgroups/status",
            "operators/status",
        ],
        &["update"],
        "reports what it found and did",
    ),
    Right::new(OLM, &["olmconfigs/status"], &["patch"], "reports whether copies are made"),
    Right::new(
        OLM,
        &["operatorconditions", "operators"],
        &["create"],
        "makes one for each installed operator",
    ),
    Right::new(OLM, &["operatorconditions"], &["patch"], "keeps it in step with its CSV"),
    Right::new(
        OLM,
        &["installplans", "operatorgroups", "subscriptions"],
        &["patch"],
        "labels components of Operators and notes which APIs a group provides",
    ),
    // What an operator consists of.
    Right::new(
        "apps",
        &["deployments"],
        &["list", "watch", "create", "update", "patch", "delete"],
        "runs operators, removes what a CSV names no more, and labels components",
    ),
    Right::new(
        "",
        &["pods"],
        &["list"],
        "tells a restarting API server of an operator from a broken one",
    )
    .unseen("only while such a server does not answer; olm-operator controllers/csv/pods.rs"),
    Right::new(
        "",
        &["services"],
        &["list", "watch", "patch", "delete"],
        "stand before the webhooks and API servers of operators",
    ),
    Right::new("", &["services"], &["create"], "are made by being applied").unseen(ASKED_BY_SERVER),
    Right::new(
        "",
        &["secrets"],
        &["list", "watch", "patch", "delete"],
        "hold the certificates of those servers; tokens of accounts under which operators are installed",
    ),
    Right::new(
        "",
        &["secrets"],
        &["create"],
        "hold certificates, and the key that attests InstallPlans",
    )
    .unseen("certificates are made by being applied, and one of both operators makes the key"),
    Right::new(
        "",
        &["serviceaccounts"],
        &["list", "watch", "patch"],
        "are required by CSVs and named by OperatorGroups, and are components",
    ),
    TOKENS,
    Right::new("", &["configmaps"], &["list", "watch", "patch"], "are components"),
    Right::new(
        "",
        &["configmaps"],
        &["get"],
        "whose certificates callers of the metrics show is in kube-system",
    )
    .named(&["extension-apiserver-authentication"])
    .unseen(WITHOUT_TLS),
    Right::new(
        "",
        &["namespaces"],
        &["list", "watch", "patch"],
        "are selected by OperatorGroups, and labelled as their targets",
    ),
    Right::new(
        RBAC,
        &["clusterrolebindings"],
        &["create"],
        "lets API servers of operators ask who calls; made by being applied",
    )
    .unseen(ASKED_BY_SERVER),
    Right::new(
        RBAC,
        &["roles", "rolebindings", "clusterroles"],
        &["create"],
        "operators have rights in all their target namespaces, users have rights on provided APIs",
    ),
    Right::new(
        RBAC,
        &["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
        &["list", "watch", "patch", "delete"],
        "operators have rights in all their target namespaces, users have rights on provided APIs",
    ),
    ESCALATE,
    Right::new(
        "apiextensions.k8s.io",
        &["customresourcedefinitions"],
        &["list", "watch", "patch"],
        "are required and owned by CSVs, and call conversion webhooks of operators",
    ),
    Right::new(
        "apiregistration.k8s.io",
        &["apiservices"],
        &["list", "watch", "create", "patch", "delete"],
        "are served by operators",
    ),
    Right::new(
        "admissionregistration.k8s.io",
        &["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
        &["list", "watch", "create", "patch", "delete"],
        "call webhooks of operators",
    ),
    Right::new(
        "",
        &["secrets"],
        &["get"],
        "holds the key that attests InstallPlans, where that is wanted",
    )
    .at_home(),
    // About itself.
    EVENTS,
    NEW_LEASE,
    Right::new(
        "coordination.k8s.io",
        &["leases"],
        &["get", "update"],
        "one of several replicas acts",
    )
    .named(&["olm-operator"])
    .at_home(),
    Right::new(
        "authentication.k8s.io",
        &["tokenreviews"],
        &["create"],
        "finds out who asks for metrics",
    )
    .unseen(WITHOUT_TLS),
    Right::new(
        "authorization.k8s.io",
        &["subjectaccessreviews"],
        &["create"],
        "finds out whether they may",
    )
    .unseen(WITHOUT_TLS),
    // OpenShift.
    Right::new(
        "config.openshift.io",
        &["proxies"],
        WATCH,
        "operators are told of the proxy of the cluster",
    )
    .unseen(OPENSHIFT),
    Right::new(
        "config.openshift.io",
        &["clusteroperators"],
        &["get", "create"],
        "reports to the cluster's own operator, when flags ask for it",
    )
    .unseen(OPENSHIFT),
    Right::new(
        "config.openshift.io",
        &["clusteroperators/status"],
        &["update"],
        "reports to the cluster's own operator, when flags ask for it",
    )
    .unseen(OPENSHIFT),
    Right::new(
        "config.openshift.io",
        &["apiservers"],
        &["get"],
        "endpoints over TLS follow the profile of the cluster",
    )
    .unseen(OPENSHIFT),
    // A watch that lost something.
    unconfirmed(
        OLM,
        &[
            "installplans",
            "olmconfigs",
            "operatorconditions",
            "operatorgroups",
            "operators",
            "subscriptions",
        ],
    ),
    unconfirmed("", &["configmaps", "namespaces", "secrets", "serviceaccounts", "services"]),
    unconfirmed("apps", &["deployments"]),
    unconfirmed(RBAC, &["roles", "rolebindings", "clusterroles", "clusterrolebindings"]),
    unconfirmed("apiextensions.k8s.io", &["customresourcedefinitions"]),
    unconfirmed("apiregistration.k8s.io", &["apiservices"]),
    unconfirmed(
        "admissionregistration.k8s.io",
        &["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    ),
];
