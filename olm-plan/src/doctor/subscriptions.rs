//! Subscriptions and their InstallPlans.

use jiff::Timestamp;
use olm_types::api::{
    Approval, CatalogSource, InstallPlan, InstallPlanPhase, Subscription, SubscriptionState,
};
use olm_types::conditions::subscription as conditions;

use super::{Found, catalogs, quoted};
use crate::approval::{approval, is_pending};
use crate::health::true_condition;
use crate::installed;
use crate::observed::{Observed, is, name, namespace};

/// What the resolver says of a CSV that nothing refers to.
const ORPHAN: &str = "exists and is not referenced by a subscription";

/// What a failed plan says of a CRD that loses a stored version, and of objects that would be invalid.
const STORED: &str = "risk of data loss updating";
const INVALID: &str = "error validating existing CRs";

/// A CSV that nothing refers to blocks a Subscription.
pub fn orphan(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        let message = resolution(one).filter(|message| message.contains(ORPHAN))?;
        let csv = message.split(ORPHAN).next()?.trim_end().rsplit(' ').next()?.to_owned();
        let home = namespace(&one.metadata);
        let fix = format!("kubectl -n {home} delete clusterserviceversion {}", quoted(&csv));
        Some((message, fix))
    })
}

/// The catalog that is named does not exist.
pub fn no_source(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        let spec = &one.spec;
        let evidence =
            format!("there is no CatalogSource {}/{}", spec.source_namespace, spec.source);
        source(observed, one).is_none().then(|| (evidence, edit(one)))
    })
}

/// The catalog has no such package.
pub fn no_package(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        lacks_package(observed, one).then(|| {
            let spec = &one.spec;
            (format!("{} has no package {}", spec.source, spec.name), edit(one))
        })
    })
}

/// The package has no such channel.
pub fn no_channel(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        lacks_channel(observed, one).then(|| {
            let status = observed.package_of(one).and_then(|package| package.status.as_ref());
            let channels = status.into_iter().flat_map(|status| &status.channels);
            let channels: Vec<&str> = channels.map(|channel| channel.name.as_str()).collect();
            let wanted = one.spec.channel.as_deref().unwrap_or_default();
            (format!("{wanted} is none of {}", channels.join(", ")), edit(one))
        })
    })
}

/// A bundle image could not be unpacked.
pub fn unpack_failed(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        let condition = true_condition(one, conditions::BUNDLE_UNPACK_FAILED)?;
        let fix = format!("kubectl -n {} get jobs,pods", quoted(&one.spec.source_namespace));
        Some((condition.message.clone().unwrap_or_default(), fix))
    })
}

/// A plan waits for a user; one finding for each plan.
pub fn waits_for_approval(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let pending = observed.install_plans.iter().filter(|plan| is_pending(plan));
    let found = pending.filter_map(|plan| {
        let asks = |one: &&Subscription| is_plan_of(observed, one, plan);
        let by = observed.subscriptions.iter().find(asks)?;
        let names = plan.spec.cluster_service_version_names.join(", ");
        let home = namespace(&plan.metadata);
        let csv = by.status.as_ref().and_then(|status| status.current_csv.clone());
        let csv = csv.unwrap_or_default();
        let fix = format!(
            "kubectl olm -n {home} approve {} {} --yes --plan-hash {}",
            quoted(&by.spec.name),
            quoted(&csv),
            approval(observed, plan).plan_hash
        );
        Some(Found::of(InstallPlan::KIND, &plan.metadata, format!("it installs {names}"), fix))
    });
    found.collect()
}

/// The plan that a Subscription points at does not exist.
pub fn plan_is_gone(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        let condition = true_condition(one, conditions::INSTALL_PLAN_MISSING)?;
        let fix = "delete the Subscription and create it anew".to_owned();
        Some((condition.message.clone().unwrap_or_else(|| "InstallPlanMissing".to_owned()), fix))
    })
}

/// An Automatic Subscription whose plan waits for the approval of another.
pub fn held_by_sibling(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        let is_manual = one.spec.install_plan_approval == Some(Approval::Manual);
        let plan = observed.plan_of(one).filter(|plan| !is_manual && is_pending(plan))?;
        let plan = name(&plan.metadata);
        let evidence =
            format!("InstallPlan {plan} waits for approval, as another Subscription asks");
        Some((evidence, format!("approve InstallPlan {plan}, see OLM013")))
    })
}

/// A plan has failed for a reason without a code of its own.
pub fn plan_failed(observed: &Observed, _: Timestamp) -> Vec<Found> {
    failed_plans(observed, |message| !message.contains(STORED) && !message.contains(INVALID))
}

/// A plan has failed because a CRD would lose a stored version.
pub fn stored_version(observed: &Observed, _: Timestamp) -> Vec<Found> {
    failed_plans(observed, |message| message.contains(STORED))
}

/// A plan has failed because objects would be invalid.
pub fn invalid_objects(observed: &Observed, _: Timestamp) -> Vec<Found> {
    failed_plans(observed, |message| message.contains(INVALID))
}

/// Installed is not the channel head, and no way leads there.
pub fn behind_the_head(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        let status = one.status.as_ref()?;
        let is_latest = status.state == SubscriptionState::AtLatestKnown;
        let installed = status.installed_csv.as_deref().filter(|_| is_latest)?;
        let channel = installed::channel(observed, one)?;
        (channel.current_csv != installed).then(|| {
            let evidence = format!(
                "{installed} is installed, {} is the head of {}",
                channel.current_csv, channel.name
            );
            (evidence, "ask the author for an upgrade edge".to_owned())
        })
    })
}

/// Package, channel or bundle is deprecated.
pub fn deprecated(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let types = [
        conditions::PACKAGE_DEPRECATED,
        conditions::CHANNEL_DEPRECATED,
        conditions::BUNDLE_DEPRECATED,
    ];
    each(observed, |one| {
        let found = types.iter().filter_map(|type_| true_condition(one, type_));
        let messages: Vec<String> = found.filter_map(|one| one.message.clone()).collect();
        (!messages.is_empty()).then(|| (messages.join("; "), edit(one)))
    })
}

/// Nothing fits, for a reason without a code of its own.
pub fn unresolved(observed: &Observed, _: Timestamp) -> Vec<Found> {
    each(observed, |one| {
        let message = resolution(one)?;
        let is_explained = message.contains(ORPHAN)
            || lacks_package(observed, one)
            || lacks_channel(observed, one)
            || has_no_single_group(observed, one)
            || source(observed, one).is_none_or(|source| !catalogs::is_ready(source));
        (!is_explained).then(|| (message, edit(one)))
    })
}

/// The findings of a check that looks at one Subscription at a time.
fn each(
    observed: &Observed,
    check: impl Fn(&Subscription) -> Option<(String, String)>,
) -> Vec<Found> {
    let found = observed.subscriptions.iter().filter_map(|one| {
        let (evidence, fix) = check(one)?;
        Some(Found::of(Subscription::KIND, &one.metadata, evidence, fix))
    });
    found.collect()
}

fn edit(one: &Subscription) -> String {
    format!("kubectl -n {} edit subscription {}", namespace(&one.metadata), name(&one.metadata))
}

/// The message of a failed resolution.
fn resolution(one: &Subscription) -> Option<String> {
    let condition = true_condition(one, conditions::RESOLUTION_FAILED)?;
    Some(condition.message.clone().unwrap_or_default())
}

fn source<'a>(observed: &'a Observed, one: &Subscription) -> Option<&'a CatalogSource> {
    let spec = &one.spec;
    let mut sources = observed.catalog_sources.iter();
    sources.find(|source| is(&source.metadata, &spec.source_namespace, &spec.source))
}

/// Whether a catalog that is known and at work has other packages, and not this one.
fn lacks_package(observed: &Observed, one: &Subscription) -> bool {
    let spec = &one.spec;
    let has_others =
        observed.packages.iter().filter_map(|package| package.status.as_ref()).any(|package| {
            package.catalog_source == spec.source
                && package.catalog_source_namespace == spec.source_namespace
        });
    resolution(one).is_some()
        && source(observed, one).is_some_and(catalogs::is_ready)
        && has_others
        && observed.package_of(one).is_none()
}

fn lacks_channel(observed: &Observed, one: &Subscription) -> bool {
    resolution(one).is_some()
        && observed.package_of(one).is_some()
        && installed::channel(observed, one).is_none()
}

/// Nothing is resolved in a namespace with no OperatorGroup or several.
fn has_no_single_group(observed: &Observed, one: &Subscription) -> bool {
    let home = namespace(&one.metadata);
    let groups = observed.operator_groups.iter();
    groups.filter(|group| namespace(&group.metadata) == home).count() != 1
}

fn is_plan_of(observed: &Observed, one: &Subscription, plan: &InstallPlan) -> bool {
    observed
        .plan_of(one)
        .is_some_and(|own| is(&own.metadata, namespace(&plan.metadata), name(&plan.metadata)))
}

/// Failed plans of Subscriptions whose message is of a kind; one finding for each plan.
fn failed_plans(observed: &Observed, fits: impl Fn(&str) -> bool) -> Vec<Found> {
    let found = observed.install_plans.iter().filter_map(|plan| {
        let status = plan.status.as_ref().filter(|it| it.phase == InstallPlanPhase::Failed)?;
        observed.subscriptions.iter().find(|one| is_plan_of(observed, one, plan))?;
        let of_conditions = status.conditions.iter().filter_map(|one| one.message.clone());
        let messages: Vec<String> = of_conditions.chain(status.message.clone()).collect();
        let message = messages.first().cloned().unwrap_or_default();
        let (home, plan_name) = (namespace(&plan.metadata), name(&plan.metadata));
        let fix =
            format!("remove the cause, then kubectl -n {home} delete installplan {plan_name}");
        fits(&message).then(|| Found::of(InstallPlan::KIND, &plan.metadata, message, fix))
    });
    found.collect()
}
