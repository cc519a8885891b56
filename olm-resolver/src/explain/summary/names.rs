//! Names of bundles and APIs in sentences, and lists of them.

use olm_types::gvk::Gvk;

use crate::problem::BundleRef;

/// So many names are listed before "and N more".
const LISTED: usize = 3;

pub(super) fn one_of(choices: &[BundleRef], word: &str) -> String {
    let from: Vec<String> = choices.iter().map(name_and_place).collect();
    some(&from, word)
}

fn name_and_place(bundle: &BundleRef) -> String {
    if bundle.is_installed() {
        return name(bundle);
    }
    format!("{} (channel {} of {})", bundle.name, bundle.channel, bundle.catalog)
}

pub(super) fn name(bundle: &BundleRef) -> String {
    if bundle.is_installed() {
        format!("the installed {}", bundle.name)
    } else {
        bundle.name.to_string()
    }
}

/// With their places where the names alone would not distinguish them.
pub(super) fn names(bundles: &[BundleRef], word: &str) -> String {
    let names: Vec<String> = bundles.iter().map(name).collect();
    let are_alike = names.iter().all(|name| Some(name) == names.first());
    if are_alike && names.len() > 1 { one_of(bundles, word) } else { some(&names, word) }
}

pub(super) fn api_name(api: &Gvk) -> String {
    format!("{} ({})", api.kind, api.api_version())
}

/// `A`, `A or B`, `A, B or C`, `A, B, C or 4 more`.
pub(super) fn some(texts: &[String], word: &str) -> String {
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
