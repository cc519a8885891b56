//! The table of codes. Numbers are never used again; rows are in their order.

use super::Class::{AskTheAuthor, Command, Wait};
use super::{Class, Code, Plural, catalogs, csvs, groups, server, subscriptions};

const SUBSCRIPTIONS: Plural = "subscriptions";
const PLANS: Plural = "installplans";
const CSVS: Plural = "clusterserviceversions";
const CATALOGS: Plural = "catalogsources";
const PACKAGES: Plural = "packagemanifests";
const GROUPS: Plural = "operatorgroups";
const PODS: Plural = "pods";
const DEPLOYMENTS: Plural = "deployments";
const CONDITIONS: Plural = "operatorconditions";

/// The row of a code; letters in any case.
#[must_use]
pub fn code(id: &str) -> Option<&'static Code> {
    CODES.iter().find(|code| code.id.eq_ignore_ascii_case(id))
}

const fn row(
    id: &'static str,
    (title, trigger, fix): (&'static str, &'static str, &'static str),
    class: Class,
    needs: &'static [Plural],
    find: fn(&super::Observed, jiff::Timestamp) -> Vec<super::Found>,
) -> Code {
    Code { id, title, trigger, fix, class, needs, find }
}

/// Every code.
pub const CODES: &[Code] = &[
    row(
        "OLM001",
        (
            "a CSV that no Subscription refers to blocks its package",
            "ResolutionFailed says that a CSV exists and is not referenced by a Subscription",
            "delete the CSV, or create the Subscription anew with startingCSV",
        ),
        Command,
        &[SUBSCRIPTIONS],
        subscriptions::orphan,
    ),
    row(
        "OLM002",
        (
            "no OperatorGroup in the namespace",
            "the namespace has Subscriptions or CSVs, and no OperatorGroup",
            "create one OperatorGroup in the namespace",
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
            "delete all but one",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS, GROUPS],
        groups::several,
    ),
    row(
        "OLM004",
        (
            "the OperatorGroup selects namespaces that the operator does not support",
            "the CSV has failed for UnsupportedOperatorGroup",
            "change the targets of the OperatorGroup to an install mode that the CSV supports",
        ),
        Command,
        &[CSVS],
        groups::unfitting,
    ),
    row(
        "OLM005",
        (
            "another operator owns the same API",
            "the CSV has failed for OwnerConflict or InterOperatorGroupOwnerConflict",
            "uninstall one of the operators, or keep their OperatorGroups apart",
        ),
        Command,
        &[CSVS],
        groups::owner_conflict,
    ),
    row(
        "OLM006",
        (
            "the CatalogSource does not exist",
            "no CatalogSource has the name and namespace that the Subscription gives",
            "correct spec.source and spec.sourceNamespace, or create the CatalogSource",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS],
        subscriptions::no_source,
    ),
    row(
        "OLM007",
        (
            "the package does not exist in the catalog",
            "resolution failed, the catalog is READY, and has other packages only",
            "correct spec.name; `kubectl get packagemanifests` lists what there is",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS, PACKAGES],
        subscriptions::no_package,
    ),
    row(
        "OLM008",
        (
            "the channel does not exist",
            "resolution failed, and the package has no channel of that name",
            "correct spec.channel",
        ),
        Command,
        &[SUBSCRIPTIONS, PACKAGES],
        subscriptions::no_channel,
    ),
    row(
        "OLM009",
        (
            "a catalog cannot be reached",
            "a CatalogSource with a Pod or an address whose connection is not READY",
            "look at the Pod and its log, or at the address",
        ),
        Wait,
        &[SUBSCRIPTIONS, CATALOGS, PODS],
        catalogs::unreachable,
    ),
    row(
        "OLM010",
        (
            "the Pod of a catalog was killed for its memory",
            "a container of the catalog's Pod ended with OOMKilled",
            "raise spec.grpcPodConfig.memoryTarget, or take a smaller catalog",
        ),
        Command,
        &[CATALOGS, PODS],
        catalogs::out_of_memory,
    ),
    row(
        "OLM011",
        (
            "a catalog has no Pod",
            "a CatalogSource with an image, not READY, and without a Pod: it was drained or refused",
            "see the message; Pod security may ask for securityContextConfig: restricted",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS, PODS],
        catalogs::without_pod,
    ),
    row(
        "OLM012",
        (
            "the contents of a bundle image could not be unpacked",
            "the Subscription has BundleUnpackFailed",
            "see that the image can be pulled; then delete the failed Job",
        ),
        Command,
        &[SUBSCRIPTIONS],
        subscriptions::unpack_failed,
    ),
    row(
        "OLM013",
        (
            "an InstallPlan waits for approval",
            "the InstallPlan of a Subscription is Manual, not approved, and RequiresApproval",
            "approve it",
        ),
        Command,
        &[SUBSCRIPTIONS, PLANS],
        subscriptions::waits_for_approval,
    ),
    row(
        "OLM014",
        (
            "the InstallPlan is gone",
            "the Subscription has InstallPlanMissing",
            "delete the Subscription and create it anew; its CSV stays",
        ),
        Command,
        &[SUBSCRIPTIONS],
        subscriptions::plan_is_gone,
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
        subscriptions::held_by_sibling,
    ),
    row(
        "OLM016",
        (
            "an InstallPlan has failed",
            "the InstallPlan of a Subscription is Failed, for none of the reasons below",
            "remove the cause that its message names, then delete the plan",
        ),
        Command,
        &[SUBSCRIPTIONS, PLANS],
        subscriptions::plan_failed,
    ),
    row(
        "OLM017",
        (
            "a new CRD removes a stored version",
            "the InstallPlan has failed for risk of data loss",
            "store all objects in a version that stays, then remove the other from status.storedVersions",
        ),
        AskTheAuthor,
        &[SUBSCRIPTIONS, PLANS],
        subscriptions::stored_version,
    ),
    row(
        "OLM018",
        (
            "existing objects are not valid under a new CRD",
            "the InstallPlan has failed over existing objects and the new schema",
            "correct the objects that its message names",
        ),
        Command,
        &[SUBSCRIPTIONS, PLANS],
        subscriptions::invalid_objects,
    ),
    row(
        "OLM019",
        (
            "a requirement is missing",
            "the CSV is Pending for RequirementsNotMet",
            "install what is missing: the operator that provides the API, or the rights",
        ),
        Command,
        &[CSVS],
        csvs::requirement,
    ),
    row(
        "OLM020",
        (
            "a ServiceAccount is owned by another CSV",
            "a requirement of the CSV says so",
            "uninstall the other operator, or install this one in another namespace",
        ),
        Command,
        &[CSVS],
        csvs::foreign_account,
    ),
    row(
        "OLM021",
        (
            "an image of the operator cannot be pulled",
            "a Pod of the CSV's Deployments waits with ErrImagePull, ImagePullBackOff or InvalidImageName",
            "see that the nodes reach the registry, and have the pull secrets",
        ),
        Command,
        &[CSVS, DEPLOYMENTS, PODS],
        csvs::image,
    ),
    row(
        "OLM022",
        (
            "CSVs replace each other in a circle, or a replacement is gone",
            "spec.replaces leads back, or a CSV is Replacing and no other names it",
            "delete the CSV that should not be there",
        ),
        Command,
        &[CSVS],
        csvs::chain,
    ),
    row(
        "OLM023",
        (
            "nothing leads to the channel head",
            "the Subscription is AtLatestKnown, and the head of its channel is another CSV",
            "wait for the next resolution; else ask for an upgrade edge from the installed version",
        ),
        AskTheAuthor,
        &[SUBSCRIPTIONS, PACKAGES],
        subscriptions::behind_the_head,
    ),
    row(
        "OLM024",
        (
            "the packages API does not answer",
            "the APIService v1.packages.operators.coreos.com is not Available",
            "see the Pods behind its Service; until then no namespace can be deleted",
        ),
        Wait,
        &["apiservices"],
        server::packages_api,
    ),
    row(
        "OLM025",
        (
            "a webhook of a CSV that is gone",
            "a webhook configuration is labelled with a CSV that does not exist",
            "delete the configuration: it may refuse every write",
        ),
        Command,
        &[CSVS, "webhookconfigurations"],
        server::webhook,
    ),
    row(
        "OLM026",
        (
            "a certificate is overdue",
            "status.certsRotateAt of a CSV is more than an hour ago",
            "see whether olm-operator runs",
        ),
        Wait,
        &[CSVS],
        csvs::certificate,
    ),
    row(
        "OLM027",
        (
            "an InstallPlan is near the size limit of objects",
            "it takes more than 1 MiB of the 1.5 MiB that etcd takes",
            "split the catalog's bundles, or have their manifests in images",
        ),
        AskTheAuthor,
        &[PLANS],
        server::size,
    ),
    row(
        "OLM028",
        (
            "the operator refuses upgrades",
            "its OperatorCondition says Upgradeable=False, and nothing overrides it",
            "do what its message asks for; spec.overrides upgrades nevertheless",
        ),
        Wait,
        &[CONDITIONS],
        csvs::not_upgradeable,
    ),
    row(
        "OLM029",
        (
            "two OLMs in one cluster",
            "Deployments of olm-operator exist in several namespaces",
            "remove one of them",
        ),
        Command,
        &["olm deployments"],
        server::two_olms,
    ),
    row(
        "OLM030",
        (
            "package, channel or version is deprecated",
            "the Subscription has a condition of deprecation",
            "follow the message: another channel or package",
        ),
        Command,
        &[SUBSCRIPTIONS],
        subscriptions::deprecated,
    ),
    row(
        "OLM031",
        (
            "no set of bundles fits",
            "ResolutionFailed, for none of the reasons above",
            "see the message: it names the constraints that exclude each other",
        ),
        Command,
        &[SUBSCRIPTIONS, CATALOGS, PACKAGES, GROUPS],
        subscriptions::unresolved,
    ),
    row(
        "OLM032",
        (
            "a CSV has failed",
            "its phase is Failed, for none of the reasons above",
            "see the message, and the log of the operator",
        ),
        AskTheAuthor,
        &[CSVS, DEPLOYMENTS, PODS],
        csvs::failed,
    ),
];
