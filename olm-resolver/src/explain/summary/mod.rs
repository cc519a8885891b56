//! An explanation for people: who asks for what, what stands in the way, what would help.
//!
//! One sentence per fact that says something, in the order of the chain: Subscriptions, bundles and
//! their dependencies, rules of the namespace; then what would help.

mod hint;
mod names;

use names::{api_name, name, names, one_of, some};

use super::{Fact, Repair};
use crate::constraint::Wanted;
use crate::problem::{BundleRef, ClusterNeed, Missing};
use crate::request::SubscriptionFacts;

pub(super) fn of(facts: &[Fact], repairs: &[Repair]) -> String {
    let mut ordered: Vec<&Fact> = facts.iter().collect();
    ordered.sort_by_key(|fact| rank(fact));
    let mut sentences: Vec<String> = Vec::new();
    for fact in &ordered {
        sentences.extend(sentence(fact, &ordered).filter(|sentence| !sentences.contains(sentence)));
    }
    sentences.extend(help(repairs).or_else(|| hint::hint(facts)));
    sentences.join(" ")
}

fn help(repairs: &[Repair]) -> Option<String> {
    let texts: Vec<String> = repairs.iter().map(Repair::to_string).collect();
    match texts.as_slice() {
        [] => None,
        [only] => Some(format!("What helps: {only}.")),
        several => Some(format!("Each of these helps: {}.", several.join("; "))),
    }
}

fn rank(fact: &Fact) -> u8 {
    match fact {
        Fact::SubscriptionExists(_) | Fact::NothingFound { .. } => 0,
        Fact::SubscriptionRequires { .. } => 1,
        Fact::OrphanExists(_) | Fact::Kept { .. } => 2,
        Fact::BundleRequires { choices, .. } if !choices.is_empty() => 3,
        Fact::BundleRequires { .. } | Fact::Deprecated(_) => 4,
        Fact::Ineligible { .. } | Fact::ClusterVersion { .. } | Fact::NotAccepted { .. } => 4,
        Fact::TakesPlaceOf { .. } | Fact::OnePerPackage { .. } | Fact::OneProvider { .. } => 5,
        Fact::Other(_) => 6,
    }
}

/// What a fact says; that a Subscription exists goes without saying. Bundles that need the same
/// share a sentence.
fn sentence(fact: &Fact, all: &[&Fact]) -> Option<String> {
    Some(match fact {
        Fact::SubscriptionExists(_) => return None,
        Fact::NothingFound { subscription, missing, installed } => {
            nothing_found(subscription, missing) + &stays(installed.as_deref())
        }
        Fact::SubscriptionRequires { subscription, choices } => {
            subscription_requires(&subscription.name, choices)
        }
        Fact::OrphanExists(csv) => format!(
            "ClusterServiceVersion {} is in the namespace without a Subscription.",
            csv.name
        ),
        Fact::Deprecated(bundle) => about(bundle, "is deprecated and must not be installed."),
        Fact::Kept { installed, subscription } => format!(
            "ClusterServiceVersion {} stays, as Subscription {subscription} cannot be met.",
            installed.name
        ),
        Fact::Ineligible { bundle, reason } => {
            about(bundle, &format!("is malformed and left out ({reason})."))
        }
        Fact::ClusterVersion { bundle, need: ClusterNeed { needed, server } } => about(
            bundle,
            &format!("needs Kubernetes {needed} or newer, and the cluster has {server}."),
        ),
        Fact::NotAccepted { bundle, subscription } => {
            about(bundle, &format!("is not accepted by {}.", accepting(subscription)))
        }
        Fact::BundleRequires { .. } => return requires(fact, all),
        Fact::TakesPlaceOf { bundle, installed } => {
            format!("{} would take the place of {}.", name(bundle), name(installed))
        }
        Fact::OnePerPackage { package, bundles } => {
            only_one(&format!("bundle of package {package}"), bundles)
        }
        Fact::OneProvider { api, bundles } => {
            only_one(&format!("provider of the API {}", api_name(api)), bundles)
        }
        Fact::Other(text) => format!("{text}."),
    })
}

fn subscription_requires(subscription: &str, choices: &[BundleRef]) -> String {
    match choices {
        [] => format!("Subscription {subscription} needs a bundle, but none qualifies."),
        _ => format!("Subscription {subscription} needs {}.", one_of(choices, "or")),
    }
}

/// What a bundle needs, who could provide it, and what its authors say about it.
fn requires(fact: &Fact, all: &[&Fact]) -> Option<String> {
    let Fact::BundleRequires { wanted, requirement, messages, choices, passed_over, .. } = fact
    else {
        return None;
    };
    let who = who_requires(fact, all);
    let supply = supply(wanted, choices, passed_over);
    let words = messages.join("; ");
    Some(match wanted {
        _ if messages.is_empty() => format!("{who} {}{supply}.", want(wanted, requirement)),
        Wanted::Other => format!("{who} a bundle that meets its constraint \"{words}\"{supply}."),
        _ => {
            format!("{who} {}{supply}. Its authors say: \"{words}\".", want(wanted, requirement))
        }
    })
}

fn nothing_found(subscription: &SubscriptionFacts, missing: &Missing) -> String {
    let SubscriptionFacts { name, package, .. } = subscription;
    let channel = subscription.channel.as_deref().map(|channel| format!("channel {channel} of "));
    let channel = channel.unwrap_or_default();
    let catalog = match &subscription.catalog {
        Some(key) => format!("CatalogSource {key}"),
        None => "the visible CatalogSources".to_owned(),
    };
    match missing {
        Missing::Catalog => format!(
            "Subscription {name} asks for package {package} from {catalog}, which does not exist, \
             is not visible in this namespace, or is empty."
        ),
        Missing::Package if subscription.catalog.is_none() => format!(
            "Subscription {name} asks for package {package}, which no visible CatalogSource holds."
        ),
        Missing::Package => {
            format!(
                "Subscription {name} asks for package {package}, which {catalog} does not hold."
            )
        }
        Missing::Channel => format!(
            "Subscription {name} asks for {channel}package {package}, which does not exist in {catalog}."
        ),
        Missing::StartingCsv => format!(
            "Subscription {name} is to start with {}, which is not in {channel}package {package} of {catalog}.",
            subscription.starting_csv.as_deref().unwrap_or_default()
        ),
        Missing::InRange(newest) => format!(
            "Nothing in {channel}package {package} of {catalog} is accepted by {}. The newest there: {}.",
            accepting(subscription),
            newest.join(", ")
        ),
        Missing::Unreachable(reached) => format!(
            "No upgrade leads to what is accepted by {} in {channel}package {package} of {catalog}. {}",
            accepting(subscription),
            match reached.as_ref() {
                [] => "There is no upgrade at all.".to_owned(),
                reached => format!("Upgrades lead to: {}.", reached.join(", ")),
            }
        ),
    }
}

/// A Subscription with what it declares about versions.
fn accepting(subscription: &SubscriptionFacts) -> String {
    let pin = subscription.pin();
    let pin = pin.map(|csv| format!("is pinned to {csv}"));
    let range = subscription.version_range.as_ref();
    let range = range.map(|range| format!("has version-range \"{range}\""));
    let held = subscription.held_by.map(|annotation| format!("has annotation {annotation}"));
    let declared: Vec<String> = match held {
        Some(held) => vec![held],
        None => pin.into_iter().chain(range).collect(),
    };
    format!("Subscription {}, which {}", subscription.name, declared.join(" and "))
}

/// What becomes of the CSV of a Subscription whose bundle is not offered.
fn stays(installed: Option<&str>) -> String {
    let text = |csv| format!(" {csv} stays installed and gets no updates.");
    installed.map(text).unwrap_or_default()
}

fn only_one(what: &str, bundles: &[BundleRef]) -> String {
    format!("Only one {what} can be in a namespace: {}.", names(bundles, "or"))
}

/// Subject and verb of all facts that state the same need.
fn who_requires(fact: &Fact, all: &[&Fact]) -> String {
    let need = |fact: &Fact| match fact {
        Fact::BundleRequires { bundle, requirement, choices, .. } => {
            Some((bundle.clone(), requirement.clone(), choices.clone()))
        }
        _ => None,
    };
    let Some((_, requirement, choices)) = need(fact) else { return String::new() };
    let alike = all.iter().filter_map(|other| need(other));
    let alike = alike.filter(|(_, other, others)| *other == requirement && *others == choices);
    let mut bundles: Vec<BundleRef> = alike.map(|(bundle, ..)| bundle).collect();
    bundles.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| b.name.cmp(&a.name)));
    let verb = if bundles.len() == 1 { "requires" } else { "require" };
    capital(&format!("{} {verb}", names(&bundles, "and")), &bundles)
}

/// A sentence that begins with a bundle.
fn about(bundle: &BundleRef, rest: &str) -> String {
    capital(&format!("{} {rest}", name(bundle)), std::slice::from_ref(bundle))
}

/// A sentence that starts with "the installed ..." gets its capital; names keep theirs.
fn capital(sentence: &str, starts_with: &[BundleRef]) -> String {
    match (sentence.strip_prefix("the "), starts_with.first()) {
        (Some(rest), Some(first)) if first.is_installed() => format!("The {rest}"),
        _ => sentence.to_owned(),
    }
}

fn want(wanted: &Wanted, requirement: &str) -> String {
    match wanted {
        Wanted::Package { name, range } => format!("package {name} in version {range}"),
        Wanted::Api(api) => format!("a provider of the API {}", api_name(api)),
        Wanted::Label(label) => format!("a bundle with label {label}"),
        // A CEL rule of v0 ends with its message, also when it has none.
        Wanted::Other => format!("an operator {}", requirement.replace(" and message: \"\"", "")),
    }
}

fn supply(wanted: &Wanted, choices: &[BundleRef], passed_over: &[BundleRef]) -> String {
    if !choices.is_empty() {
        return format!(", which is {}", names(choices, "or"));
    }
    let package_known = !passed_over.is_empty();
    match wanted {
        Wanted::Package { .. } if package_known => {
            let versions = passed_over.iter().filter_map(|bundle| bundle.version.as_ref());
            let versions: Vec<String> = versions.map(ToString::to_string).collect();
            format!(", but the catalogs only offer {}", some(&versions, "and"))
        }
        Wanted::Package { .. } => ", which no visible catalog holds".to_owned(),
        _ => ", which no channel of the visible catalogs offers".to_owned(),
    }
}
