//! What catalog-operator does.

use super::{ESCALATE, EVENTS, NEW_LEASE, OLM, RBAC, Right, TOKENS, WATCH, unconfirmed};

pub(super) const RIGHTS: &[Right] = &[
    // Its own kinds.
    Right::new(
        OLM,
        &[
            "catalogsources",
            "clusterserviceversions",
            "installplans",
            "operatorgroups",
            "subscriptions",
        ],
        WATCH,
        "every decision reads them from a watch",
    ),
    Right::new(
        OLM,
        &["catalogsources/status", "installplans/status", "subscriptions/status"],
        &["update"],
        "reports what it found and did",
    ),
    Right::new(OLM, &["catalogsources"], &["patch"], "fills in the image that a template means")
        .unseen(
            "no catalog of a scenario has a template; olm-lifecycle catalog_source/template.rs",
        ),
    Right::new(
        OLM,
        &["clusterserviceversions", "subscriptions"],
        &["create"],
        "are steps of InstallPlans",
    ),
    Right::new(OLM, &["clusterserviceversions"], &["get"], "own what other steps make"),
    Right::new(OLM, &["clusterserviceversions"], &["delete"], "retires v0's package server")
        .named(&["packageserver"])
        .at_home()
        .unseen("a take-over has a cluster of its own; scenarios take_over"),
    Right::new(
        OLM,
        &["installplans"],
        &["get", "create", "delete"],
        "writes down what to install, and forgets all but the latest",
    ),
    Right::new(
        OLM,
        &["installplans"],
        &["patch"],
        "approves what annotations of Subscriptions approve",
    ),
    Right::new(
        OLM,
        &["catalogsources/finalizers"],
        &["update"],
        "block the deletion of their owner",
    )
    .unseen(ENFORCEMENT),
    Right::new(
        "",
        &["configmaps", "secrets"],
        &["delete"],
        "whose owners change with each version",
    )
    .unseen(ENFORCEMENT),
    // Servers of catalogs, and Jobs that unpack bundles.
    Right::new(
        "",
        &["pods"],
        &["list", "watch", "create", "patch", "delete"],
        "serve catalogs, and unpack bundles",
    ),
    Right::new("batch", &["jobs"], &["get", "list", "watch", "create"], "unpack bundles"),
    Right::new("batch", &["jobs"], &["delete"], "keeps no more than a few failed ones")
        .unseen("no scenario has a Job fail so often; olm-lifecycle unpack/attempts.rs"),
    Right::new(
        "",
        &["configmaps"],
        &["get", "list", "watch", "create", "patch"],
        "hold unpacked bundles and catalogs, and are steps of InstallPlans",
    ),
    Right::new(
        "",
        &["configmaps"],
        &["update"],
        "are filled with bundles that are unpacked in process",
    )
    .unseen("needs a registry of images; scenario flags::process"),
    Right::new(
        "",
        &["services", "serviceaccounts"],
        &["get", "list", "watch", "create", "patch"],
        "stand before catalogs, and are steps of InstallPlans",
    ),
    Right::new("", &["services", "serviceaccounts"], &["delete"], DRIFT).unseen(DRIFT_UNSEEN),
    Right::new(RBAC, &["roles", "rolebindings"], &["delete"], DRIFT).unseen(DRIFT_UNSEEN),
    Right::new("networking.k8s.io", &["networkpolicies"], &["delete"], DRIFT).unseen(DRIFT_UNSEEN),
    Right::new(
        "",
        &["namespaces"],
        &["get", "list", "watch"],
        "says how Pods there must be secured",
    ),
    // Steps of InstallPlans.
    Right::new(
        "",
        &["secrets"],
        &["get", "list", "create"],
        "are steps of InstallPlans, pull images, and hold tokens of accounts",
    ),
    Right::new("", &["secrets"], &["patch"], "become what a newer version of a bundle says")
        .unseen("no bundle of a scenario has a Secret twice; olm-lifecycle handlers/secret.rs"),
    Right::new("", &["secrets"], &["update"], "renews the certificate of the packages API")
        .at_home()
        .unseen("a certificate is good for longer than a scenario; olm-lifecycle packages_api"),
    TOKENS,
    Right::new(
        RBAC,
        &["roles", "rolebindings"],
        &["get", "list", "watch", "create"],
        "give operators the rights that they ask for, and let bundles be unpacked",
    ),
    Right::new(
        RBAC,
        &["clusterroles", "clusterrolebindings"],
        &["create"],
        "give operators the rights that they ask for",
    ),
    Right::new(
        RBAC,
        &["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
        &["get", "patch"],
        "become what a newer version of a bundle says",
    )
    .unseen("only when a plan is executed again; olm-lifecycle handlers/rbac.rs"),
    ESCALATE,
    Right::new(
        "apiextensions.k8s.io",
        &["customresourcedefinitions"],
        &["get", "create", "update"],
        "are steps of InstallPlans",
    ),
    Right::new(
        "*",
        &["networkpolicies", "poddisruptionbudgets", "priorityclasses"],
        &["create"],
        BY_KIND,
    ),
    Right::new(
        "*",
        &["networkpolicies", "poddisruptionbudgets", "priorityclasses"],
        &["get", "update"],
        BY_KIND,
    )
    .unseen("only what is there already is read and replaced; olm-lifecycle handlers/other.rs"),
    Right::new(
        "*",
        &[
            "consoleclidownloads",
            "consolelinks",
            "consoleplugins",
            "consolequickstarts",
            "consoleyamlsamples",
            "prometheusrules",
            "servicemonitors",
            "verticalpodautoscalers",
        ],
        &["get", "create", "update"],
        BY_KIND,
    )
    .unseen("clusters of scenarios know no such kinds"),
    Right::new(
        "networking.k8s.io",
        &["networkpolicies"],
        &["list", "watch", "patch"],
        "let catalogs be reached",
    ),
    Right::new(
        "apiextensions.k8s.io",
        &["customresourcedefinitions/status"],
        &["update"],
        "drops versions of a definition that nothing is stored in any more",
    ),
    // Catalogs that it serves itself.
    Right::new(
        "discovery.k8s.io",
        &["endpointslices"],
        &["list", "watch", "create", "patch", "delete"],
        "lead clients of catalogs to the operator, and say which content counts",
    ),
    Right::new("", &["endpoints"], &["delete"], "are left of the Pods that served a catalog"),
    Right::new(
        "discovery.k8s.io",
        &["endpointslices/restricted"],
        &["create"],
        "asked for by an admission plugin of OpenShift, as its Pods are in the network of the cluster",
    )
    .unseen(OPENSHIFT),
    Right::new(
        "config.openshift.io",
        &["imagedigestmirrorsets", "imagetagmirrorsets"],
        &["list", "watch"],
        "say where else images may be found",
    )
    .unseen(OPENSHIFT),
    // About itself.
    Right::new(
        "apiregistration.k8s.io",
        &["apiservices"],
        &["get", "patch"],
        "shows the certificate of the packages API",
    )
    .named(&["v1.packages.operators.coreos.com"]),
    EVENTS,
    NEW_LEASE,
    Right::new(
        "coordination.k8s.io",
        &["leases"],
        &["get", "update"],
        "one of several replicas acts",
    )
    .named(&["catalog-operator"])
    .at_home(),
    Right::new(
        "authentication.k8s.io",
        &["tokenreviews"],
        &["create"],
        "finds out who asks for metrics",
    )
    .unseen("scenarios scrape metrics without TLS; admin::tests::tls shows the review"),
    Right::new(
        "authorization.k8s.io",
        &["subjectaccessreviews"],
        &["create"],
        "finds out whether callers may see packages",
    ),
    // Custom resources.
    Right::new(
        "*",
        &["*"],
        &["list"],
        "checks that custom resources fit a newer definition; of which groups, only catalogs know",
    ),
    Right::new(
        "*",
        &["*"],
        &["patch"],
        "stores custom resources anew, unchanged, before a definition drops the version in which \
         they are stored; RBAC has no word for custom resources only",
    ),
    // OpenShift.
    Right::new(
        "config.openshift.io",
        &["apiservers"],
        &["get"],
        "endpoints over TLS follow the profile of the cluster",
    )
    .unseen(OPENSHIFT),
    Right::new(
        "config.openshift.io",
        &["clusteroperators"],
        &["get", "create"],
        "reports to the cluster's own operator, when a flag asks for it",
    )
    .unseen(OPENSHIFT),
    Right::new(
        "config.openshift.io",
        &["clusteroperators/status"],
        &["update"],
        "reports to the cluster's own operator, when a flag asks for it",
    )
    .unseen(OPENSHIFT),
    // A watch that lost something.
    unconfirmed(OLM, &["catalogsources", "subscriptions"]),
    unconfirmed("", &["pods"]),
    unconfirmed("networking.k8s.io", &["networkpolicies"]),
];

const BY_KIND: &str = "are steps of InstallPlans by their kinds, of whatever group";
const OPENSHIFT: &str = "the kind is one of OpenShift, which scenarios have no cluster of";
const DRIFT: &str = "makes anew what somebody changed of what serves a catalog";
const DRIFT_UNSEEN: &str =
    "they do not change in a scenario; olm-lifecycle catalog_source/drift.rs";
const ENFORCEMENT: &str =
    "asked for by the admission plugin OwnerReferencesPermissionEnforcement, which OpenShift has";
