//! What catalog-operator does.

use super::{ASKED_BY_SERVER, DOUBT, OLM, RBAC, Right, WATCH};

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
    Right::new(OLM, &["catalogsources"], &["patch"], "fills in the image that a template means"),
    Right::new(
        OLM,
        &["clusterserviceversions", "subscriptions"],
        &["get", "create"],
        "are steps of InstallPlans",
    ),
    Right::new(OLM, &["subscriptions"], &["patch"], "labels what it installed"),
    Right::new(
        OLM,
        &["installplans"],
        &["get", "create", "delete"],
        "writes down what to install, and forgets all but the latest",
    ),
    Right::new(
        OLM,
        &[
            "catalogsources/finalizers",
            "clusterserviceversions/finalizers",
            "installplans/finalizers",
            "subscriptions/finalizers",
        ],
        &["update"],
        "makes them owners that block their deletion",
    )
    .unseen("asked for by the admission plugin OwnerReferencesPermissionEnforcement"),
    // Servers of catalogs, and Jobs that unpack bundles.
    Right::new(
        "",
        &["pods"],
        &["list", "watch", "create", "delete"],
        "serve catalogs, and unpack bundles",
    ),
    Right::new(
        "batch",
        &["jobs"],
        &["get", "list", "watch", "create", "delete"],
        "unpack bundles",
    ),
    Right::new(
        "",
        &["configmaps"],
        &["get", "list", "watch", "create", "update", "patch"],
        "hold unpacked bundles and catalogs, and are steps of InstallPlans",
    ),
    Right::new(
        "",
        &["services", "serviceaccounts"],
        &["get", "list", "watch", "create", "patch", "delete"],
        "stand before catalogs, and are steps of InstallPlans",
    ),
    Right::new("", &["namespaces"], &["get", "list", "watch"], "says how Pods there must be secured"),
    // Steps of InstallPlans.
    Right::new(
        "",
        &["secrets"],
        &["get", "list", "create", "update", "patch"],
        "are steps of InstallPlans, pull images, and hold tokens of accounts",
    ),
    Right::new(
        "",
        &["serviceaccounts/token"],
        &["create"],
        "installs under the account that an OperatorGroup names",
    ),
    Right::new(
        RBAC,
        &["roles", "rolebindings"],
        &["get", "list", "watch", "create", "patch", "delete"],
        "give operators the rights that they ask for, and let bundles be unpacked",
    ),
    Right::new(
        RBAC,
        &["clusterroles", "clusterrolebindings"],
        &["get", "create", "patch"],
        "give operators the rights that they ask for",
    ),
    Right::new(
        RBAC,
        &["roles", "clusterroles"],
        &["escalate", "bind"],
        "an operator may ask for any right: whoever lets it be installed answers for that",
    )
    .unseen(ASKED_BY_SERVER),
    Right::new(
        "apiextensions.k8s.io",
        &["customresourcedefinitions"],
        &["get", "create", "update"],
        "are steps of InstallPlans",
    ),
    Right::new(
        "*",
        &[
            "consoleclidownloads",
            "consolelinks",
            "consoleplugins",
            "consolequickstarts",
            "consoleyamlsamples",
            "networkpolicies",
            "poddisruptionbudgets",
            "priorityclasses",
            "prometheusrules",
            "servicemonitors",
            "verticalpodautoscalers",
        ],
        &["get", "create", "update"],
        "are steps of InstallPlans by their kinds, of whatever group",
    ),
    Right::new(
        "networking.k8s.io",
        &["networkpolicies"],
        &["list", "watch", "patch", "delete"],
        "let catalogs be reached",
    ),
    Right::new(
        "apiextensions.k8s.io",
        &["customresourcedefinitions/status"],
        &["update"],
        "drops versions of a definition that nothing is stored in any more",
    ),
    // About itself.
    Right::new(
        "apiregistration.k8s.io",
        &["apiservices"],
        &["get", "patch"],
        "shows the certificate of the packages API",
    )
    .named(&["v1.packages.operators.coreos.com"]),
    Right::new("", &["events"], &["create", "patch"], "tells users what happened"),
    Right::new("coordination.k8s.io", &["leases"], &["create"], "one of several replicas acts").at_home(),
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
        OLM,
        &["catalogsources"],
        &["get"],
        "reads again what it wrote and a watch does not show",
    )
    .unseen(DOUBT),
    Right::new("", &["pods"], &["get"], "reads again what it wrote and a watch does not show").unseen(DOUBT),
];
