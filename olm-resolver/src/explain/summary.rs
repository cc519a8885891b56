//! An explanation for people: who asks for what, what stands in the way, what would help.
//!
//! One sentence per fact that says something, in the order of the chain: Subscriptions, bundles and
//! their dependencies, rules of the namespace; then one sentence with a remedy.

use olm_types::gvk::Gvk;

use super::Fact;
use crate::constraint::Wanted;
use crate::problem::{BundleRef, Missing};
use crate::request::SubscriptionFacts;

/// So many names are listed before "and N more".
const LISTED: usize = 3;

pub(super) fn of(facts: &[Fact]) -> String {
    let mut ordered: Vec<&Fact> = facts.iter().collect();
    ordered.sort_by_key(|fact| rank(fact));
    let mut sentences: Vec<String> = Vec::new();
    for fact in &ordered {
        sentences.extend(sentence(fact, &ordered).filter(|sentence| !sentences.contains(sentence)));
    }
    sentences.extend(remedy(facts));
    sentences.join(" ")
}

fn rank(fact: &Fact) -> u8 {
    match fact {
        Fact::SubscriptionExists(_) | Fact::NothingFound { .. } => 0,
        Fact::SubscriptionRequires { .. } => 1,
        Fact::OrphanExists(_) => 2,
        Fact::BundleRequires { choices, .. } if !choices.is_empty() => 3,
        Fact::BundleRequires { .. } | Fact::Deprecated(_) => 4,
        Fact::TakesPlaceOf { .. } | Fact::OnePerPackage { .. } | Fact::OneProvider { .. } => 5,
        Fact::Other(_) => 6,
    }
}

/// What a fact says; that a Subscription exists goes without saying. Bundles that need the same
/// share a sentence.
fn sentence(fact: &Fact, all: &[&Fact]) -> Option<String> {
    Some(match fact {
        Fact::SubscriptionExists(_) => return None,
        Fact::NothingFound { subscription, missing } => nothing_found(subscription, *missing),
        Fact::SubscriptionRequires { subscription, choices } => format!(
            "Subscription {} needs {}.",
            subscription.name,
            if choices.is_empty() {
                "a bundle, but none qualifies".to_owned()
            } else {
                one_of(choices)
            }
        ),
        Fact::OrphanExists(csv) => {
            format!(
                "ClusterServiceVersion {} is in the namespace without a Subscription.",
                csv.name
            )
        }
        Fact::Deprecated(bundle) => {
            let text = format!("{} is deprecated and must not be installed.", name(bundle));
            capital(&text, std::slice::from_ref(bundle))
        }
        Fact::BundleRequires { wanted, requirement, choices, passed_over, .. } => {
            let needs = format!("{} {}", who_requires(fact, all), want(wanted, requirement));
            format!("{needs}{}.", supply(wanted, choices, passed_over))
        }
        Fact::TakesPlaceOf { bundle, installed } => {
            format!("{} would take the place of {}.", name(bundle), name(installed))
        }
        Fact::OnePerPackage { package, bundles } => format!(
            "Only one bundle of package {package} can be in a namespace: {}.",
            names(bundles, "or")
        ),
        Fact::OneProvider { api, bundles } => format!(
            "Only one provider of the API {} can be in a namespace: {}.",
            api_name(api),
            names(bundles, "or")
        ),
        Fact::Other(text) => format!("{text}."),
    })
}

fn nothing_found(subscription: &SubscriptionFacts, missing: Missing) -> String {
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
    }
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
        Wanted::Other { message } if message.is_empty() => format!("an operator {requirement}"),
        Wanted::Other { message } => format!("a bundle that meets its constraint \"{message}\""),
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

/// What would most likely help.
fn remedy(facts: &[Fact]) -> Option<String> {
    let orphan = facts.iter().find_map(|fact| match fact {
        Fact::OrphanExists(csv) => Some(csv),
        _ => None,
    });
    if let Some(csv) = orphan {
        return Some(format!(
            "Delete ClusterServiceVersion {0}, or create a Subscription for it whose startingCSV is {0}.",
            csv.name
        ));
    }
    facts.iter().find_map(remedy_for)
}

fn remedy_for(fact: &Fact) -> Option<String> {
    match fact {
        Fact::NothingFound { subscription, missing } => Some(match missing {
            Missing::Catalog => {
                "Create the CatalogSource, or name another one in the Subscription.".to_owned()
            }
            Missing::Package => {
                "Correct spec.name, or spec.source, of the Subscription.".to_owned()
            }
            Missing::Channel => "Correct spec.channel of the Subscription.".to_owned(),
            Missing::StartingCsv => format!(
                "Correct spec.startingCSV of Subscription {}, or remove it to start with the newest.",
                subscription.name
            ),
        }),
        Fact::BundleRequires { choices, wanted, .. } if choices.is_empty() => Some(match wanted {
            Wanted::Package { name, .. } => {
                format!("Add a CatalogSource that offers such a version of {name}.")
            }
            Wanted::Api(_) => "Add a CatalogSource that offers a provider.".to_owned(),
            Wanted::Label(_) | Wanted::Other { .. } => {
                "Add a CatalogSource that offers one.".to_owned()
            }
        }),
        Fact::OneProvider { .. } | Fact::OnePerPackage { .. } => {
            Some("Use different namespaces, or delete one of the Subscriptions.".to_owned())
        }
        _ => None,
    }
}

fn one_of(choices: &[BundleRef]) -> String {
    let from: Vec<String> = choices.iter().map(name_and_place).collect();
    some(&from, "or")
}

fn name_and_place(bundle: &BundleRef) -> String {
    if bundle.is_installed() {
        return name(bundle);
    }
    format!("{} (channel {} of {})", bundle.name, bundle.channel, bundle.catalog)
}

fn name(bundle: &BundleRef) -> String {
    if bundle.is_installed() {
        format!("the installed {}", bundle.name)
    } else {
        bundle.name.to_string()
    }
}

fn names(bundles: &[BundleRef], word: &str) -> String {
    some(&bundles.iter().map(name).collect::<Vec<_>>(), word)
}

fn api_name(api: &Gvk) -> String {
    format!("{} ({})", api.kind, api.api_version())
}

/// `A`, `A or B`, `A, B or C`, `A, B, C or 4 more`.
fn some(texts: &[String], word: &str) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for text in texts {
        if !unique.contains(&text.as_str()) {
            unique.push(text);
        }
    }
    let hidden = unique.len().saturating_sub(LISTED + 1);
    let hidden = if hidden > 0 { hidden + 1 } else { 0 };
    let more = (hidden > 0).then(|| format!("{hidden} more"));
    let shown = unique.iter().take(unique.len() - hidden).copied();
    let all: Vec<&str> = shown.chain(more.as_deref()).collect();
    match all.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
    }
}
