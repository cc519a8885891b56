//! The table of codes. Numbers are never used again, and never change their meaning.

mod installing;
mod running;

use super::{Class, Code, Found, Plural, View};

const SUBSCRIPTIONS: Plural = "subscriptions";
const PLANS: Plural = "installplans";
const CSVS: Plural = "clusterserviceversions";
const CATALOGS: Plural = "catalogsources";
const PACKAGES: Plural = "packagemanifests";
const GROUPS: Plural = "operatorgroups";
const PODS: Plural = "pods";
const DEPLOYMENTS: Plural = "deployments";
const CONDITIONS: Plural = "operatorconditions";
const WEBHOOKS: Plural = "webhookconfigurations";
const API_SERVICES: Plural = "apiservices";
const OLM_DEPLOYMENTS: Plural = "olm deployments";
const CRDS: Plural = "customresourcedefinitions";
const LEFT: Plural = "custom resources";
const SERVICES: Plural = "services";
const SECRETS: Plural = "secrets";
const RIGHTS: Plural = "selfsubjectaccessreviews";

/// Every code, in the order of their numbers.
#[must_use]
pub fn codes() -> Vec<&'static Code> {
    let mut all: Vec<&Code> = installing::CODES.iter().chain(running::CODES).collect();
    all.sort_by_key(|code| code.id);
    all
}

/// The row of a code; letters in any case.
#[must_use]
pub fn code(id: &str) -> Option<&'static Code> {
    codes().into_iter().find(|code| code.id.eq_ignore_ascii_case(id))
}

/// A row: title, trigger and fix are what `explain` prints.
const fn row(
    id: &'static str,
    (title, trigger, fix): (&'static str, &'static str, &'static str),
    class: Class,
    needs: &'static [Plural],
    find: fn(&View<'_>) -> Vec<Found>,
) -> Code {
    Code { id, title, trigger, fix, class, is_before: false, needs, find }
}

/// A row of what is looked for before an installation or a take-over.
const fn before(
    id: &'static str,
    texts: (&'static str, &'static str, &'static str),
    class: Class,
    needs: &'static [Plural],
    find: fn(&View<'_>) -> Vec<Found>,
) -> Code {
    Code { is_before: true, ..row(id, texts, class, needs, find) }
}
