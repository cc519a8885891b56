//! What keeps an operator from being installed: OperatorGroups, names, catalogs, InstallPlans.

use super::Class::{AskTheAuthor, Command, Wait};
use super::{CATALOGS, CSVS, Code, GROUPS, PACKAGES, PLANS, PODS, SUBSCRIPTIONS, row};
use crate::doctor::{catalogs, groups, names, objects, plans, subscriptions};

pub(super) const CODES: &[Code] = &[
    row(
        "OLM001",
        (
            "a CSV that no Subscription refers to blocks its package",
            "`ResolutionFailed` of a Subscription names a CSV that is there and belongs to none",
            "delete the CSV: the Subscription installs its operator again, custom resources stay",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS],
        subscriptions::orphan,
    ),
    row(
        "OLM002",
        (
            "no OperatorGroup in the namespace",
            "the namespace has Subscriptions or CSVs, and no OperatorGroup",
            "create one: for the namespace alone where the operators support that, otherwise for all",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS, GROUPS],
        groups::none,
    ),
    row(
        "OLM003",
        (
            "several OperatorGroups in one namespace",
            "the namespace has Subscriptions or CSVs, and more than one OperatorGroup",
            "delete all but the one of which the CSVs are members",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS, GROUPS],
        groups::several,
    ),
    row(
        "OLM004",
        (
            "the OperatorGroup selects namespaces that the operator does not support",
            "a CSV is Failed for `UnsupportedOperatorGroup`",
            "let the group select what the operator supports",
        ),
        Command,
        &[CSVS, GROUPS],
        groups::unfitting,
    ),
    row(
        "OLM005",
        (
            "another operator owns the same API",
            "a CSV is Failed for `OwnerConflict` or `InterOperatorGroupOwnerConflict`",
            "uninstall one of the two, or let their OperatorGroups share no namespace",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS],
        groups::owner_conflict,
    ),
    row(
        "OLM006",
        (
            "the CatalogSource does not exist",
            "no CatalogSource has the name and namespace that the Subscription gives",
            "name a catalog that has the package",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS, PACKAGES],
        names::no_source,
    ),
    row(
        "OLM007",
        (
            "the package does not exist in the catalog",
            "the resolution failed, and the catalog is READY and has no package of that name",
            "name a package that it has, or the catalog that has the package",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS, PACKAGES],
        names::no_package,
    ),
    row(
        "OLM008",
        (
            "the channel does not exist",
            "the resolution failed, and the package has no channel of that name",
            "name a channel that it has",
        ),
        Command,
        &[SUBSCRIPTIONS, PACKAGES],
        names::no_channel,
    ),
    row(
        "OLM009",
        (
            "a catalog cannot be reached",
            "a CatalogSource is not READY, for none of the reasons of its own below",
            "see its Pod and the log of it, or what `spec.address` leads to; of one without a Pod, its conditions",
        ),
        Wait,
        &[SUBSCRIPTIONS, CATALOGS, PODS],
        catalogs::unreachable,
    ),
    row(
        "OLM010",
        (
            "the Pod of a catalog was killed for its memory",
            "a container of the catalog's Pod ended with `OOMKilled`",
            "raise `spec.grpcPodConfig.memoryTarget`",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS, PODS],
        catalogs::out_of_memory,
    ),
    row(
        "OLM011",
        (
            "no Pod of a catalog runs",
            "a CatalogSource that a Pod serves is not READY, and the Pod is gone, evicted or without a node: a drain, as a \
             rule",
            "wait for a node that takes it",
        ),
        Wait,
        &[SUBSCRIPTIONS, CATALOGS, PODS],
        catalogs::without_pod,
    ),
    row(
        "OLM012",
        (
            "the contents of a bundle image could not be unpacked",
            "a Subscription has `BundleUnpackFailed`, and not `BundleUnpacking`",
            "repair what the message names, then delete the failed Job: another one begins",
        ),
        Command,
        &[SUBSCRIPTIONS],
        subscriptions::unpack_failed,
    ),
    row(
        "OLM013",
        (
            "an InstallPlan waits for approval",
            "the InstallPlan of a Subscription is `RequiresApproval`, and not approved",
            "approve it; where the Subscription holds it by an annotation, change that",
        ),
        Command,
        &[SUBSCRIPTIONS, PLANS],
        plans::waits_for_approval,
    ),
    row(
        "OLM014",
        (
            "the InstallPlan is gone",
            "a Subscription has `InstallPlanMissing`",
            "nothing: what it installed stays, and the next upgrade makes a new plan",
        ),
        Wait,
        &[SUBSCRIPTIONS],
        plans::is_gone,
    ),
    row(
        "OLM015",
        (
            "an Automatic Subscription is held by a Manual one",
            "its InstallPlan waits for the approval that another Subscription, which needs the same operator, asks for",
            "approve the plan; its message says who asks for what",
        ),
        Command,
        &[SUBSCRIPTIONS, PLANS],
        plans::held_by_sibling,
    ),
    row(
        "OLM016",
        (
            "an InstallPlan fails",
            "the InstallPlan of a Subscription is Failed, or tried again, for none of the reasons below",
            "ask the author, or remove the cause that the message names and delete the plan",
        ),
        AskTheAuthor,
        &[SUBSCRIPTIONS, PLANS],
        plans::failed,
    ),
    row(
        "OLM017",
        (
            "a new CRD removes a version in which objects are stored",
            "the InstallPlan fails for risk of data loss, or over a served version of several operators",
            "the author has to serve that version once more, and say how objects are stored in another",
        ),
        AskTheAuthor,
        &[SUBSCRIPTIONS, PLANS],
        plans::stored_version,
    ),
    row(
        "OLM018",
        (
            "existing objects are not valid under a new CRD",
            "the InstallPlan fails over existing objects and the new schema",
            "the author has to say how the objects that the message names are changed",
        ),
        AskTheAuthor,
        &[SUBSCRIPTIONS, PLANS],
        plans::invalid_objects,
    ),
    row(
        "OLM027",
        (
            "an InstallPlan or a CSV is near the size limit of objects",
            "a CSV, or an InstallPlan that is not done, takes more than 1 MiB of the 1.5 MiB that etcd takes; copies of a \
             CSV are as large",
            "the author has to make it smaller, or put bundles into images",
        ),
        AskTheAuthor,
        &[PLANS, CSVS],
        objects::large,
    ),
    row(
        "OLM031",
        (
            "no set of bundles fits",
            "a Subscription has `ResolutionFailed`, for none of the reasons above",
            "the message names what excludes each other: leave one out, or ask its author",
        ),
        AskTheAuthor,
        &[SUBSCRIPTIONS, CATALOGS, PACKAGES, GROUPS],
        subscriptions::unresolved,
    ),
    row(
        "OLM033",
        (
            "the Pod of a catalog is refused by Pod security",
            "a CatalogSource is not READY, and its message says that the Pod violates PodSecurity",
            "let the Pod be restricted, or label the Namespace",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS],
        catalogs::refused,
    ),
    row(
        "OLM034",
        (
            "an approved InstallPlan that nothing refers to",
            "an InstallPlan is approved and not begun, and no Subscription points at it: it was replaced",
            "delete it, and approve the one that the Subscription points at",
        ),
        Command,
        &[SUBSCRIPTIONS, PLANS],
        plans::replaced,
    ),
];
