//! Second stage of validation: does each package make sense by itself? Fills in channel heads.

use std::collections::BTreeMap;

use olm_types::version::{Range, Version};

use super::blob::ChannelEntry;
use super::graph;
use super::model::{Bundle, Catalog, Channel, Package};
use super::problem::{Problem, Problems};

/// Checks every package of a draft and finds the heads of its channels.
pub(super) fn check(catalog: &mut Catalog, problems: &mut Problems) {
    for package in catalog.packages.values_mut() {
        let name = package.name.clone();
        for message in package_problems(package) {
            problems.push(Problem::of_package(&name, message).at(&package.origin));
        }
        for bundle in package.bundles.values() {
            for message in bundle_problems(&name, bundle) {
                problems.push(Problem::of_bundle(&name, &bundle.name, message).at(&bundle.origin));
            }
        }
        for channel in package.channels.values_mut() {
            check_channel(&name, channel, problems);
        }
    }
}

fn package_problems(package: &Package) -> Vec<String> {
    let mut problems = Vec::new();
    let default = &package.default_channel;
    if default.is_empty() {
        problems.push("default channel must be set".to_owned());
    } else if !package.channels.contains_key(default) && !package.channels.is_empty() {
        problems.push(format!("default channel {default:?} not found in channels list"));
    }
    if package.channels.is_empty() {
        problems.push("package must contain at least one channel".to_owned());
    }
    problems.extend(duplicate_versions(&package.versions()));
    problems.extend(deprecation_problem(package.deprecation.as_ref()));
    problems
}

/// Versions that several bundles have, printed as Go prints a list of maps.
fn duplicate_versions(versions: &BTreeMap<String, Vec<&str>>) -> Option<String> {
    let duplicates: Vec<String> = versions
        .iter()
        .filter(|(_, bundles)| bundles.len() > 1)
        .map(|(version, bundles)| format!("{{{version}: [{}]}}", bundles.join(", ")))
        .collect();
    (!duplicates.is_empty())
        .then(|| format!("duplicate versions found in bundles: [{}]", duplicates.join(" ")))
}

fn bundle_problems(package: &str, bundle: &Bundle) -> Vec<String> {
    let mut problems = Vec::new();
    if bundle.name.is_empty() {
        problems.push("name must be set".to_owned());
    }
    if bundle.image.is_empty() && bundle.manifests == 0 {
        problems.push("bundle image must be set".to_owned());
    }
    if !bundle.release.is_empty() {
        problems.extend(release_problems(package, bundle));
    }
    problems.extend(deprecation_problem(bundle.deprecation.as_ref()));
    problems
}

fn release_problems(package: &str, bundle: &Bundle) -> Vec<String> {
    let mut problems = Vec::new();
    let normalized = format!("{package}-v{}", bundle.full_version());
    if bundle.name != normalized {
        problems
            .push(format!("name {:?} does not match normalized name {normalized:?}", bundle.name));
    }
    let version = Version::parse(&bundle.version);
    if version.is_ok_and(|version| !version.build().is_empty()) {
        problems.push("cannot use build metadata in version with a release version".to_owned());
    }
    problems
}

fn check_channel(package: &str, channel: &mut Channel, problems: &mut Problems) {
    let mut report = |problem: Problem| problems.push(problem.at(&channel.origin));
    let in_channel = |message: String| Problem::of_channel(package, &channel.name, message);
    if let Some(message) = deprecation_problem(channel.deprecation.as_ref()) {
        report(in_channel(message));
    }
    for entry in channel.entries.values() {
        for message in entry_problems(entry) {
            report(Problem { bundle: Some(entry.name.clone()), ..in_channel(message) });
        }
    }
    if channel.entries.is_empty() {
        report(in_channel("channel must contain at least one bundle".to_owned()));
        return;
    }
    match graph::head(&channel.entries) {
        Ok(head) => channel.head = head,
        Err(error) => report(in_channel(error.to_string())),
    }
}

fn entry_problems(entry: &ChannelEntry) -> Vec<String> {
    let skips = entry.skips.iter().enumerate();
    let mut problems: Vec<String> = skips
        .filter(|(_, name)| name.is_empty())
        .map(|(index, _)| format!("skip[{index}] is empty"))
        .collect();
    if !entry.skip_range.is_empty()
        && let Err(error) = Range::parse(&entry.skip_range)
    {
        problems.push(format!("invalid skipRange {:?}: {error}", entry.skip_range));
    }
    problems
}

fn deprecation_problem(message: Option<&String>) -> Option<String> {
    message
        .is_some_and(String::is_empty)
        .then(|| "invalid deprecation: message must be set".to_owned())
}
