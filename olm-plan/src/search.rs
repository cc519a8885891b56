//! Packages of catalogs, found by words, provided APIs and categories.

use olm_types::api::{
    CsvDescription, PackageChannel, PackageManifest, PackageManifestStatus, Subscription,
};
use serde::Serialize;

use crate::observed::{created, namespace};

/// The annotation of a CSV with its categories, by commas.
const CATEGORIES: &str = "categories";
/// That with how much it does by itself.
const CAPABILITIES: &str = "capabilities";
/// That with one line about it.
const LINE: &str = "description";

/// The annotations of a CSV that a search and its rows read.
pub const ANNOTATIONS: [&str; 3] = [CATEGORIES, CAPABILITIES, LINE];

/// What is looked for. What is empty fits every package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// All of them have to be in names, keywords or descriptions, whatever their case.
    pub words: Vec<String>,
    /// `KIND` or `KIND.GROUP`.
    pub provides: Option<String>,
    /// One of its categories, whatever its case.
    pub category: Option<String>,
    /// Name of a catalog, or NAMESPACE/NAME.
    pub catalog: Option<String>,
    /// How much it does by itself, as its author says, whatever the case.
    pub capability: Option<String>,
}

/// A package as a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackageRow {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub display_name: String,
    /// NAMESPACE/NAME of its catalog.
    pub catalog: String,
    /// Who publishes it.
    pub provider: String,
    /// The channel of Subscriptions that name none.
    pub channel: String,
    /// The version at the head of that channel.
    pub version: String,
    /// What it is for.
    pub categories: Vec<String>,
    /// How much it does by itself, as its author says.
    pub capabilities: String,
    /// APIs that it provides, as KIND.VERSION.GROUP.
    pub provides: Vec<String>,
    /// One line about it.
    pub line: String,
    /// What the catalog says about the end of the package, or of its default channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// Namespaces in which a Subscription asks for it, of those that were read.
    pub installed: Vec<String>,
    /// When the packages API says that it came, RFC 3339; catalogs do not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// The packages that fit, the best first: by where the words are, then by name and catalog.
#[must_use]
pub fn search(
    packages: &[PackageManifest],
    subscriptions: &[Subscription],
    query: &Query,
) -> Vec<PackageRow> {
    let words: Vec<String> = query.words.iter().map(|word| word.to_lowercase()).collect();
    let statuses = packages.iter().filter_map(|package| Some((package, package.status.as_ref()?)));
    let fits = statuses.filter(|(_, status)| {
        is_of_catalog(status, query.catalog.as_deref())
            && heads(status).any(|head| is_in_category(head, query.category.as_deref()))
            && heads(status).any(|head| provides(head, query.provides.as_deref()))
    });
    let ranked = fits.filter_map(|(package, status)| {
        let (created, rank) = (created(&package.metadata), rank(status, &words)?);
        let found = PackageRow { created, ..row(status, subscriptions) };
        has_capability(&found, query.capability.as_deref()).then_some((rank, found))
    });
    let mut found: Vec<(u32, PackageRow)> = ranked.collect();
    found.sort_by(|(a, one), (b, other)| {
        (a, &one.name, &one.catalog).cmp(&(b, &other.name, &other.catalog))
    });
    found.into_iter().map(|(_, row)| row).collect()
}

/// A package as a row.
#[must_use]
pub fn row(status: &PackageManifestStatus, subscriptions: &[Subscription]) -> PackageRow {
    let default = default_channel(status);
    let head = default.and_then(|channel| channel.current_csv_desc.as_ref());
    let note = |name: &str| {
        head.and_then(|head| head.annotations.get(name)).map(|text| text.trim().to_owned())
    };
    let deprecated = status.deprecation.as_ref();
    let deprecated = deprecated.or(default.and_then(|channel| channel.deprecation.as_ref()));
    let provider = status.provider.as_ref().and_then(|provider| provider.name.clone());
    PackageRow {
        name: status.package_name.clone(),
        display_name: head.and_then(|head| head.display_name.clone()).unwrap_or_default(),
        catalog: format!("{}/{}", status.catalog_source_namespace, status.catalog_source),
        provider: provider.unwrap_or_default(),
        channel: status.default_channel.clone(),
        version: head.and_then(|head| head.version.clone()).unwrap_or_default(),
        categories: head.map(categories).unwrap_or_default(),
        capabilities: note(CAPABILITIES).unwrap_or_default(),
        provides: head.map(apis).unwrap_or_default(),
        line: note(LINE).unwrap_or_default(),
        deprecated: deprecated.map(|found| found.message.clone()),
        installed: installed(status, subscriptions),
        created: None,
    }
}

/// The channel of Subscriptions that name none.
#[must_use]
pub fn default_channel(status: &PackageManifestStatus) -> Option<&PackageChannel> {
    let named = status.channels.iter().find(|channel| channel.name == status.default_channel);
    named.or_else(|| status.channels.first())
}

fn heads(status: &PackageManifestStatus) -> impl Iterator<Item = &CsvDescription> {
    status.channels.iter().filter_map(|channel| channel.current_csv_desc.as_ref())
}

fn installed(status: &PackageManifestStatus, subscriptions: &[Subscription]) -> Vec<String> {
    let asks = subscriptions.iter().filter(|one| {
        one.spec.name == status.package_name
            && one.spec.source == status.catalog_source
            && one.spec.source_namespace == status.catalog_source_namespace
    });
    let mut homes: Vec<String> = asks.map(|one| namespace(&one.metadata).to_owned()).collect();
    homes.sort();
    homes.dedup();
    homes
}

fn is_of_catalog(status: &PackageManifestStatus, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted else { return true };
    match wanted.split_once('/') {
        Some((home, name)) => {
            status.catalog_source_namespace == home && status.catalog_source == name
        }
        None => status.catalog_source == wanted,
    }
}

fn categories(head: &CsvDescription) -> Vec<String> {
    let named = head.annotations.get(CATEGORIES).map(String::as_str).unwrap_or_default();
    let parts = named.split(',').map(str::trim).filter(|name| !name.is_empty());
    parts.map(str::to_owned).collect()
}

fn has_capability(row: &PackageRow, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| row.capabilities.to_lowercase() == wanted.to_lowercase())
}

fn is_in_category(head: &CsvDescription, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| {
        categories(head).iter().any(|one| one.to_lowercase() == wanted.to_lowercase())
    })
}

/// The APIs that a CSV owns, as KIND.VERSION.GROUP.
fn apis(head: &CsvDescription) -> Vec<String> {
    let crds = head.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
    let crds = crds.map(|crd| {
        let group = crd.name.split_once('.').map_or("", |(_, group)| group);
        format!("{}.{}.{group}", crd.kind, crd.version)
    });
    let services = head.apiservicedefinitions.iter().flat_map(|services| &services.owned);
    let services = services.map(|one| format!("{}.{}.{}", one.kind, one.version, one.group));
    crds.chain(services).collect()
}

/// Whether an API is among those that a CSV owns, whatever its version.
fn provides(head: &CsvDescription, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted.map(str::to_lowercase) else { return true };
    apis(head).iter().map(|api| api.to_lowercase()).any(|api| {
        let mut parts = api.splitn(3, '.');
        let kind = parts.next().unwrap_or_default();
        let group = parts.nth(1).unwrap_or_default();
        wanted == kind || wanted == format!("{kind}.{group}") || wanted == api
    })
}

/// How far a package is from what is looked for; none when it is something else.
fn rank(status: &PackageManifestStatus, words: &[String]) -> Option<u32> {
    words.iter().map(|word| rank_of_word(status, word)).try_fold(0, |sum, rank| Some(sum + rank?))
}

fn rank_of_word(status: &PackageManifestStatus, word: &str) -> Option<u32> {
    let name = status.package_name.to_lowercase();
    let head = default_channel(status).and_then(|channel| channel.current_csv_desc.as_ref());
    let has = |text: Option<&String>| text.is_some_and(|text| text.to_lowercase().contains(word));
    let provider = status.provider.as_ref().and_then(|provider| provider.name.as_ref());
    Some(match head {
        _ if name == word => 0,
        _ if name.starts_with(word) => 1,
        _ if name.contains(word) => 2,
        Some(head) if has(head.display_name.as_ref()) => 3,
        Some(head) if head.keywords.iter().any(|keyword| has(Some(keyword))) => 4,
        Some(head) if apis(head).iter().any(|api| has(Some(api))) => 5,
        Some(head) if has(head.annotations.get(LINE)) || has(provider) => 6,
        Some(head) if has(head.description.as_ref()) => 7,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::*;

    fn package(name: &str, head: serde_json::Value) -> PackageManifest {
        let channel = json!({"name": "stable", "currentCSV": format!("{name}.v1"),
            "currentCSVDesc": head, "entries": []});
        from_value(json!({"metadata": {"name": name}, "spec": {}, "status": {
            "catalogSource": "c", "catalogSourceDisplayName": "", "catalogSourcePublisher": "",
            "catalogSourceNamespace": "olm", "packageName": name, "channels": [channel],
            "defaultChannel": "stable", "provider": {"name": "Kitchen Inc"}}}))
        .unwrap()
    }

    fn packages() -> Vec<PackageManifest> {
        let owned = json!([{"name": "kettles.x.io", "version": "v1", "kind": "Kettle"}]);
        vec![
            package(
                "kettle",
                json!({"displayName": "A kettle", "version": "1.0.0",
                "annotations": {"categories": "Cooking, Database", "description": "boils",
                    "capabilities": "Seamless Upgrades"},
                "customresourcedefinitions": {"owned": owned}}),
            ),
            package("kettle-extra", json!({"keywords": ["steam"], "description": "Also boils"})),
            package("stove", json!({"displayName": "Stove", "description": "Heats a kettle"})),
        ]
    }

    #[rstest]
    #[case::everything(Query::default(), "kettle kettle-extra stove")]
    #[case::name(Query { words: vec!["Kettle".into()], ..Query::default() }, "kettle kettle-extra stove")]
    #[case::words(Query { words: vec!["kettle".into(), "steam".into()], ..Query::default() }, "kettle-extra")]
    #[case::description(Query { words: vec!["heats".into()], ..Query::default() }, "stove")]
    #[case::provider(Query { words: vec!["inc".into()], ..Query::default() }, "kettle kettle-extra stove")]
    #[case::nothing(Query { words: vec!["fridge".into()], ..Query::default() }, "")]
    #[case::kind(Query { provides: Some("kettle".into()), ..Query::default() }, "kettle")]
    #[case::group(Query { provides: Some("Kettle.x.io".into()), ..Query::default() }, "kettle")]
    #[case::other_group(Query { provides: Some("Kettle.y.io".into()), ..Query::default() }, "")]
    #[case::category(Query { category: Some("database".into()), ..Query::default() }, "kettle")]
    #[case::capability(Query { capability: Some("seamless upgrades".into()), ..Query::default() }, "kettle")]
    #[case::other_capability(Query { capability: Some("Deep Insights".into()), ..Query::default() }, "")]
    #[case::catalog(Query { catalog: Some("olm/c".into()), ..Query::default() }, "kettle kettle-extra stove")]
    #[case::other_catalog(Query { catalog: Some("d".into()), ..Query::default() }, "")]
    fn what_fits_is_found_the_best_first(#[case] query: Query, #[case] expected: &str) {
        let found = search(&packages(), &[], &query);
        let names: Vec<&str> = found.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn a_row_says_what_the_head_says() {
        let subscription: Subscription =
            from_value(json!({"metadata": {"name": "s", "namespace": "n"},
            "spec": {"name": "kettle", "source": "c", "sourceNamespace": "olm"}}))
            .unwrap();
        let found = search(&packages(), &[subscription], &Query::default());
        let row = &found[0];
        assert_eq!((&*row.version, &*row.line, &*row.provider), ("1.0.0", "boils", "Kitchen Inc"));
        assert_eq!(row.categories, ["Cooking", "Database"]);
        assert_eq!(row.provides, ["Kettle.v1.x.io"]);
        assert_eq!(row.installed, ["n"]);
        assert_eq!(row.created, None);
    }

    #[test]
    fn a_row_says_when_the_package_came() {
        let mut packages = packages();
        let created = from_value(json!("2026-01-02T03:04:05Z")).unwrap();
        packages[0].metadata.creation_timestamp = Some(created);
        let found = search(&packages, &[], &Query::default());
        assert_eq!(found[0].created.as_deref(), Some("2026-01-02T03:04:05Z"));
    }
}
