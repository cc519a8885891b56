//! What is wrong with what is installed, with the cluster around it, and with what is left.

use super::Class::{AskTheAuthor, Command, Wait};
use super::{
    API_SERVICES, CATALOGS, CONDITIONS, CRDS, CSVS, Code, DEPLOYMENTS, LEFT, OLM_DEPLOYMENTS,
    PACKAGES, PLANS, PODS, RIGHTS, SECRETS, SERVICES, SUBSCRIPTIONS, WEBHOOKS, before, row,
};
use crate::doctor::{certificates, csvs, failed, objects, preconditions, server, subscriptions};

pub(super) const CODES: &[Code] = &[
    row(
        "OLM019",
        (
            "a requirement is missing",
            "a CSV is Pending for `RequirementsNotMet`, and its InstallPlan is done",
            "install the operator that provides it, where a catalog has one; otherwise ask for it",
        ),
        Command,
        &[SUBSCRIPTIONS, PLANS, CSVS, PACKAGES],
        csvs::requirement,
    ),
    row(
        "OLM020",
        (
            "a ServiceAccount is owned by another CSV",
            "a requirement of a Pending CSV says so",
            "uninstall one of the two, or install them in namespaces of their own",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS],
        csvs::foreign_account,
    ),
    row(
        "OLM021",
        (
            "an image of the operator cannot be pulled",
            "a Pod of a CSV waits with `ErrImagePull`, `ImagePullBackOff` or `InvalidImageName`",
            "see that nodes reach the registry, and that the account has the pull secrets",
        ),
        Wait,
        &[CSVS, DEPLOYMENTS, PODS],
        csvs::image,
    ),
    row(
        "OLM022",
        (
            "CSVs replace each other in a circle, or a replacement is gone",
            "`spec.replaces` leads back, or a CSV is Replacing and no other names it",
            "cut the circle; let OLM look at the CSV as at a new one",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS],
        csvs::chain,
    ),
    row(
        "OLM023",
        (
            "nothing leads to the channel head",
            "a Subscription that could be resolved is `AtLatestKnown`, and the head of its channel is another CSV",
            "the author has to add an upgrade edge from the installed version",
        ),
        AskTheAuthor,
        &[SUBSCRIPTIONS, PACKAGES],
        subscriptions::behind_the_head,
    ),
    row(
        "OLM024",
        (
            "the packages API does not answer",
            "the APIService `v1.packages.operators.coreos.com` is not Available",
            "see what serves it; until then no namespace can be deleted",
        ),
        Wait,
        &[API_SERVICES],
        server::packages_api,
    ),
    row(
        "OLM025",
        (
            "a webhook without a server",
            "a webhook configuration of a CSV that is gone, or a CRD of one with a conversion Service that is",
            "delete the configuration, or convert no more: every write, or every read, may fail",
        ),
        Command,
        &[CSVS, WEBHOOKS, CRDS, SERVICES],
        server::without_server,
    ),
    row(
        "OLM026",
        (
            "a certificate is overdue or not trusted",
            "`status.certsRotateAt` of a CSV is an hour ago, or the API server has another authority than the \
             Secret",
            "see whether olm-operator runs and may write: it rotates by itself",
        ),
        Wait,
        &[CSVS, WEBHOOKS, API_SERVICES, SECRETS],
        certificates::certificates,
    ),
    row(
        "OLM028",
        (
            "the operator refuses upgrades",
            "an OperatorCondition says `Upgradeable=False`, and nothing overrides it",
            "do what its message asks for; `spec.overrides` upgrades nevertheless",
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
            "remove all but the oldest",
        ),
        Command,
        &[OLM_DEPLOYMENTS],
        server::two_olms,
    ),
    row(
        "OLM030",
        (
            "package, channel or version is deprecated",
            "a Subscription has a condition of deprecation",
            "follow a channel that is not deprecated, where the package has one",
        ),
        Command,
        &[SUBSCRIPTIONS, PACKAGES],
        subscriptions::deprecated,
    ),
    row(
        "OLM032",
        (
            "a CSV has failed",
            "its phase is Failed for none of the other reasons, or was at least three times in a row since it last \
             was Succeeded",
            "see the message and the log of the operator, and ask its author",
        ),
        AskTheAuthor,
        &[CSVS, DEPLOYMENTS, PODS],
        failed::find,
    ),
    row(
        "OLM035",
        (
            "a custom resource is stuck on a finalizer of a removed operator",
            "it is being deleted, finalizers hold it, and no CSV owns its kind any more",
            "remove the finalizers: what the operator would have cleaned up stays; or install it again",
        ),
        Command,
        &[CSVS, CRDS, LEFT],
        objects::held,
    ),
    row(
        "OLM036",
        (
            "a Subscription that was generated for a dependency, and that no operator needs",
            "an InstallPlan made it, and no CSV of the namespace requires what it installed",
            "uninstall it",
        ),
        Command,
        &[SUBSCRIPTIONS, CSVS],
        subscriptions::unneeded,
    ),
    before(
        "OLM037",
        (
            "an aggregated API does not answer",
            "an APIService is not Available",
            "see what its Service leads to; until then no namespace can be deleted",
        ),
        Wait,
        &[API_SERVICES],
        server::other_api,
    ),
    before(
        "OLM038",
        (
            "the user may not install OLM",
            "the user of this command has not all rights in the cluster, which OLM's manifests need",
            "an administrator of the cluster has to do it",
        ),
        AskTheAuthor,
        &[RIGHTS],
        preconditions::denied,
    ),
    before(
        "OLM039",
        (
            "an installation is under way",
            "an InstallPlan is Installing, or a CSV is on its way",
            "wait: a cluster at rest is easier to judge",
        ),
        Wait,
        &[PLANS, CSVS],
        preconditions::under_way,
    ),
    before(
        "OLM040",
        (
            "a catalog Pod would be refused after a take-over",
            "a catalog in OLM's namespace has `securityContextConfig: legacy`; the manifests restrict that namespace",
            "let the Pod be restricted",
        ),
        Command,
        &[CATALOGS, OLM_DEPLOYMENTS],
        preconditions::legacy_pods,
    ),
    row(
        "OLM041",
        (
            "no Pod of an operator can be made",
            "a Deployment of a CSV has condition `ReplicaFailure`: its ServiceAccount is missing, or a quota, Pod \
             security or a webhook refuses its Pods",
            "create the ServiceAccount, or change the quota or the policy, that the message names",
        ),
        Wait,
        &[CSVS, DEPLOYMENTS],
        csvs::pods_refused,
    ),
];
