//! Pages of a search, and what bounds them.

use std::time::Instant;

use olm_types::api::{PackageManifest, Subscription};
use serde_json::{Value as Json, from_value, json};

use super::*;

pub(in crate::pages) fn row(name: &str, category: &str) -> PackageRow {
    PackageRow {
        name: name.to_owned(),
        display_name: String::new(),
        catalog: "olm/c".to_owned(),
        provider: String::new(),
        channel: "stable".to_owned(),
        version: "1.0.0".to_owned(),
        categories: vec![category.to_owned()],
        capabilities: String::new(),
        provides: Vec::new(),
        line: String::new(),
        deprecated: None,
        installed: Vec::new(),
        created: None,
    }
}

#[test]
fn facets_count_what_was_found_and_lead_back() {
    let search =
        Search { q: "tea".to_owned(), category: Some("b".to_owned()), ..Search::default() };
    let rows = [row("x", "A"), row("y", "A"), row("z", "B")];
    let facets = search.facets(&rows);
    let shown: Vec<(String, usize, bool)> = facets[1]
        .values
        .iter()
        .map(|value| (value.url.clone(), value.count, value.is_chosen))
        .collect();
    let expected = [
        ("/catalog?q=tea".to_owned(), 1, true),
        ("/catalog?q=tea&category=A".to_owned(), 2, false),
    ];
    assert_eq!(shown, expected);
    assert!(facets[2].values.is_empty());
}

#[test]
fn a_provided_api_stays_in_every_address_of_a_search() {
    let search = Search { provides: Some("Kettle.tea".to_owned()), ..Search::default() };
    let rows = [row("x", "A")];
    let facets = search.facets(&rows);
    let address = &facets[1].values[0].url;
    assert_eq!(address, "/catalog?provides=Kettle.tea&category=A");
    assert_eq!(search.url(Some("2")), "/catalog?provides=Kettle.tea&page=2");
}

/// Packages of large catalogs: the first is deprecated and installed.
fn many(count: usize) -> Vec<PackageManifest> {
    let package = |number: usize| -> PackageManifest {
        let head = json!({"displayName": "A kettle", "version": "1.0.0",
            "keywords": ["steam"], "description": "It boils water. ".repeat(100),
            "annotations": {"categories": "Cooking", "capabilities": "Deep Insights"}});
        let deprecation = if number == 0 { json!({"message": "old"}) } else { Json::Null };
        let channel = json!({"name": "stable", "currentCSVDesc": head, "entries": []});
        from_value(json!({"metadata": {"name": "kettle"}, "spec": {}, "status": {
            "catalogSource": "c", "catalogSourceNamespace": "olm", "defaultChannel": "stable",
            "packageName": format!("kettle-{number:04}"), "deprecation": deprecation,
            "provider": {"name": "Kitchen Inc"}, "channels": [channel]}}))
        .unwrap()
    };
    (0..count).map(package).collect()
}

/// The page of what was found.
fn page(search: &Search, rows: &[PackageRow]) -> String {
    let (start, previous, next) = search.pages(rows.len(), 1);
    let frame = Frame {
        title: "Catalog".to_owned(),
        here: Page::Catalog,
        namespace: "team".to_owned(),
        server: "https://cluster.example".to_owned(),
        command: "kubectl olm search".to_owned(),
        leaves: false,
        live: None,
        notes: Vec::new(),
        token: String::new(),
    };
    let page = Catalog {
        frame,
        q: search.q.clone(),
        provides: String::new(),
        narrowed: search.narrowed(),
        facets: search.facets(rows),
        count: rows.len(),
        cards: rows.iter().skip(start).take(CARDS).map(|row| card(row, "team")).collect(),
        previous,
        next,
        unread: Vec::new(),
        failure: None,
    };
    page.render().unwrap()
}

/// A second is far more than that takes, even without optimizations and beside other tests.
#[test]
fn two_thousand_packages_are_searched_without_a_pause() {
    let packages = many(2_000);
    let subscription = json!({"metadata": {"name": "kettle", "namespace": "team"},
        "spec": {"name": "kettle-0000", "source": "c", "sourceNamespace": "olm"}});
    let subscriptions: [Subscription; 1] = [from_value(subscription).unwrap()];
    let search = Search { q: "boils".to_owned(), ..Search::default() };
    let begun = Instant::now();
    let rows = search.rows(&packages, &subscriptions);
    let page = page(&search, &rows);
    let took = begun.elapsed();
    assert!(took.as_secs() < 1, "{took:?}");
    for part in [
        "2000 packages",
        "Kitchen Inc · Deep Insights",
        "deprecated</span>",
        "installed in team</span>",
        "rel=\"next\"",
        "Narrow the search",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for (part, count) in [("class=\"card\"", CARDS), ("loading=\"lazy\"", CARDS)] {
        assert_eq!(page.matches(part).count(), count, "{part}");
    }
    assert!(page.len() < 150 * 1024, "{}", page.len());
}

#[test]
fn texts_of_a_card_are_short() {
    let mut long = row("x", "A");
    for text in [&mut long.display_name, &mut long.provider, &mut long.line] {
        *text = "W".repeat(20_000);
    }
    let shown = card(&long, "team");
    let texts = [&shown.title, &shown.row.provider, &shown.row.line];
    assert!(texts.iter().all(|text| text.chars().count() == TEXT + 1));
}

#[test]
fn a_page_has_its_neighbours() {
    let search = Search::default();
    assert_eq!(search.pages(0, 1), (0, None, None));
    let (start, previous, next) = search.pages(CARDS * 2 + 1, 2);
    assert_eq!(start, CARDS);
    assert_eq!(previous.as_deref(), Some("/catalog?page=1"));
    assert_eq!(next.as_deref(), Some("/catalog?page=3"));
    assert_eq!(search.pages(CARDS, 99).0, 0);
}
