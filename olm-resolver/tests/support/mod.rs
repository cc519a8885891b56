//! Resolution problems in a few lines of text.
//!
//! ```text
//! catalog olm/community 100              namespace/name and priority of the entries that follow
//! a.v2@2.0.0 a/alpha* ->a.v1 ~a.v0       bundle, version, package/channel (* default), replaces, skips
//!   +1 ?2                                provides API 1, requires API 2
//!   range:<2.0.0 deprecated              skipRange, property olm.deprecated
//!   needs:b:>=1.0.0_<2.0.0               olm.package.required; _ stands for a space
//!   label:x ?label:x {"gvk":...}         olm.label, olm.label.required, olm.constraint (\u0020 is a space)
//! sub a a/alpha in:olm/community is:a.v1 start:a.v1
//!   pinned range:>=1.0.0_<2.0.0 paused   olm-rs.dev/pin, olm-rs.dev/version-range, olm-rs.dev/pause
//! cluster 1.29.0                       version of Kubernetes, checked only if it is there
//! csv a.v1@1.0.0 +1 phase:Failed ->a.v0 of:a     "of" writes the annotation with olm.package
//! ```
//! An entry, `sub` or `csv` goes on in indented lines.

use olm_resolver::memory::MemoryUniverse;
use olm_resolver::{
    InstalledCsv, InstalledProperties, Policy, Resolution, ResolutionOutcome, ResolutionRequest,
    ResolveError, Resolver, SubscriptionFacts,
};
use olm_types::annotations::PAUSE;
use olm_types::api::CsvPhase;
use olm_types::bundle::{BundleContent, CatalogKey, CatalogView, Deprecations, Entry, Property};
use olm_types::gvk::Gvk;
use olm_types::version::{Range, Version, VersionRange};
use serde_json::json;

/// Two operators whose new versions each need the other's new version.
pub const VERSION_DEADLOCK: &str = "
    a.v1 a/alpha +1 ?2
    a.v2 a/alpha ->a.v1 +3 ?4
    b.v1 b/alpha +2 ?1
    b.v2 b/alpha ->b.v1 +4 ?3
    csv a.v1 +1 ?2
    csv b.v1 +2 ?1
    sub a a/alpha is:a.v1
    sub b b/alpha is:b.v1";

/// A problem read from text; the namespace is `olm`.
#[derive(Debug, Default)]
pub struct Problem {
    pub entries: Vec<Entry>,
    pub catalogs: Vec<CatalogView>,
    pub subscriptions: Vec<SubscriptionFacts>,
    pub held: Vec<SubscriptionFacts>,
    pub installed: Vec<InstalledCsv>,
    pub fail_forward: bool,
    pub cluster_version: Option<Version>,
}

impl Problem {
    pub fn read(text: &str) -> Self {
        let mut problem = Self::default();
        let mut catalog = CatalogKey::new("olm", "community");
        for item in items(text) {
            let words: Vec<&str> = item.split_whitespace().collect();
            match words.as_slice() {
                ["catalog", name, rest @ ..] => {
                    catalog = key(name);
                    let priority = rest.first().map_or(0, |text| text.parse().unwrap());
                    let unavailable = rest.get(1).map(|reason| reason.replace('_', " "));
                    problem.catalogs.push(CatalogView {
                        key: catalog.clone(),
                        priority,
                        unavailable,
                    });
                }
                ["sub", name, place, rest @ ..] => {
                    let one = subscription(name, place, rest);
                    match one.held_by {
                        Some(_) => problem.held.push(one),
                        None => problem.subscriptions.push(one),
                    }
                }
                ["csv", name, rest @ ..] => problem.installed.push(csv(name, rest)),
                ["fail-forward"] => problem.fail_forward = true,
                ["cluster", version] => {
                    problem.cluster_version = Some(Version::parse(version).unwrap())
                }
                [name, place, rest @ ..] => {
                    problem.entries.push(entry(&catalog, name, place, rest))
                }
                other => panic!("{other:?}"),
            }
        }
        problem
    }

    pub fn universe(&self) -> MemoryUniverse {
        let mut universe: MemoryUniverse = self.entries.iter().cloned().collect();
        self.catalogs.iter().cloned().for_each(|view| universe.add_catalog(view));
        universe
    }

    pub fn resolve(&self, resolver: &Resolver) -> Result<Resolution, ResolveError> {
        resolver.resolve(&self.request(&self.universe()))
    }

    pub fn outcome(&self, resolver: &Resolver, policy: Policy) -> ResolutionOutcome {
        resolver.outcome(&self.request(&self.universe()), policy)
    }

    pub fn request<'a>(&self, universe: &'a MemoryUniverse) -> ResolutionRequest<'a> {
        ResolutionRequest {
            subscriptions: self.subscriptions.clone(),
            held: self.held.clone(),
            installed: self.installed.clone(),
            fail_forward: self.fail_forward,
            cluster_version: self.cluster_version.clone(),
            ..ResolutionRequest::new("olm", universe)
        }
    }
}

/// Names of the bundles to install, or `unsat`, or `error`.
pub fn answer(text: &str) -> String {
    outcome(Problem::read(text).resolve(&Resolver::default()))
}

/// The text of the error that a problem leads to.
pub fn failure(text: &str) -> String {
    match Problem::read(text).resolve(&Resolver::default()) {
        Ok(resolution) => panic!("resolved: {}", outcome(Ok(resolution))),
        Err(error) => error.to_string(),
    }
}

/// Names of the bundles to install, or `unsat`, or `error`.
pub fn outcome(result: Result<Resolution, ResolveError>) -> String {
    match result {
        Ok(resolution) => {
            let names: Vec<&str> =
                resolution.chosen.iter().map(|chosen| &*chosen.entry.name).collect();
            names.join(" ")
        }
        Err(ResolveError::NotSatisfiable(_)) => "unsat".to_owned(),
        Err(_) => "error".to_owned(),
    }
}

fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let first = lines().map(indent).min().unwrap_or(0);
    for line in lines() {
        match items.last_mut().filter(|_| indent(line) > first) {
            Some(item) => *item = format!("{item} {}", line.trim()),
            None => items.push(line.trim().to_owned()),
        }
    }
    items
}

fn key(text: &str) -> CatalogKey {
    let (namespace, name) = text.split_once('/').unwrap();
    CatalogKey::new(namespace, name)
}

fn name_and_version(text: &str) -> (&str, Option<&str>) {
    text.split_once('@').map_or((text, None), |(name, version)| (name, Some(version)))
}

fn api(number: &str) -> Gvk {
    Gvk::new(format!("g{number}"), format!("v{number}"), format!("k{number}"))
}

fn entry(catalog: &CatalogKey, name: &str, place: &str, words: &[&str]) -> Entry {
    let (name, version) = name_and_version(name);
    let (package, channel) = place.split_once('/').unwrap();
    let package_property = json!({"packageName": package, "version": version.unwrap_or("0.0.0")});
    let mut properties = vec![property("olm.package", package_property)];
    properties.extend(words.iter().filter_map(|word| word_property(word)));
    let after = |mark: &str| words.iter().find_map(|word| word.strip_prefix(mark));
    Entry {
        name: name.into(),
        package: package.into(),
        channel: channel.trim_end_matches('*').into(),
        catalog: catalog.clone(),
        version: Some(Version::parse(version.unwrap_or("0.0.0")).unwrap()),
        replaces: after("->").map(Into::into),
        skips: after("~").map(|list| list.split(',').map(Into::into).collect()).unwrap_or_default(),
        skip_range: after("range:").map(|range| Range::parse(&range.replace('_', " ")).unwrap()),
        in_default_channel: channel.ends_with('*'),
        properties: properties.into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    }
}

fn word_property(word: &str) -> Option<Property> {
    if word.starts_with('{') {
        return Some(Property { kind: "olm.constraint".into(), value: word.into() });
    }
    if let Some(label) = word.strip_prefix("?label:") {
        return Some(property("olm.label.required", json!({"label": label})));
    }
    if let Some(label) = word.strip_prefix("label:") {
        return Some(property("olm.label", json!({"label": label})));
    }
    if let Some((package, range)) =
        word.strip_prefix("needs:").and_then(|rest| rest.split_once(':'))
    {
        let value = json!({"packageName": package, "versionRange": range.replace('_', " ")});
        return Some(property("olm.package.required", value));
    }
    if let Some((kind, value)) =
        word.strip_prefix("property:").and_then(|rest| rest.split_once('='))
    {
        return Some(Property { kind: kind.into(), value: value.into() });
    }
    match (word, word.strip_prefix('+'), word.strip_prefix('?')) {
        ("deprecated", _, _) => Some(property("olm.deprecated", json!({}))),
        (_, Some(number), _) => Some(property("olm.gvk", json!(api(number)))),
        (_, _, Some(number)) => Some(property("olm.gvk.required", json!(api(number)))),
        _ => None,
    }
}

fn property(kind: &str, value: serde_json::Value) -> Property {
    Property { kind: kind.into(), value: value.to_string().into() }
}

fn subscription(name: &str, place: &str, words: &[&str]) -> SubscriptionFacts {
    let (package, channel) = place.split_once('/').unwrap_or((place, ""));
    let after = |mark: &str| words.iter().find_map(|word| word.strip_prefix(mark));
    let catalog = after("in:").unwrap_or("olm/community");
    SubscriptionFacts {
        name: name.to_owned(),
        package: package.to_owned(),
        channel: Some(channel.to_owned()).filter(|channel| !channel.is_empty()),
        catalog: (catalog != "any").then(|| key(catalog)),
        starting_csv: after("start:").map(str::to_owned),
        installed_csv: after("is:").map(str::to_owned),
        current_csv: after("is:").map(str::to_owned),
        pinned: words.contains(&"pinned"),
        version_range: after("range:")
            .map(|range| VersionRange::parse(&range.replace('_', " ")).unwrap()),
        held_by: words.contains(&"paused").then_some(PAUSE),
    }
}

fn csv(name: &str, words: &[&str]) -> InstalledCsv {
    let (name, version) = name_and_version(name);
    let after = |mark: &str| words.iter().find_map(|word| word.strip_prefix(mark));
    let apis =
        |mark: char| words.iter().filter_map(|word| word.strip_prefix(mark)).map(api).collect();
    let mut properties = InstalledProperties::Apis { provided: apis('+'), required: apis('?') };
    if let Some(package) = after("of:") {
        let own = json!({"packageName": package, "version": version.unwrap_or("0.0.0")});
        let others = words.iter().filter_map(|word| word_property(word));
        properties = InstalledProperties::Annotated(
            [property("olm.package", own)].into_iter().chain(others).collect(),
        );
    }
    if let Some(reason) = after("unreadable:") {
        properties = InstalledProperties::Unreadable(reason.replace('_', " "));
    }
    InstalledCsv {
        name: name.to_owned(),
        version: version.map(|version| Version::parse(version).unwrap()),
        properties,
        phase: after("phase:").map_or(CsvPhase::Succeeded, CsvPhase::from),
        replaces: after("->").map(str::to_owned),
    }
}
