//! Packages as cards, found by words and narrowed by catalog, category and capability.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use olm_plan::search::{PackageRow, Query, search};

use super::bounds::short;
use super::frame::{Frame, html, url};
use super::{Page, PageView, given};
use crate::failure::Failure;

/// Cards of one page.
const CARDS: usize = 48;

/// Values of a facet that are shown, the most frequent first.
const VALUES: usize = 12;

/// Bytes of a search.
const SEARCH: usize = 200;

/// Characters of each text of a card: a page of 48 stays small.
const TEXT: usize = 160;

#[derive(Template)]
#[template(path = "catalog.html")]
struct Catalog {
    frame: Frame,
    q: String,
    provides: String,
    narrowed: Vec<(&'static str, String)>,
    facets: Vec<Facet>,
    count: usize,
    cards: Vec<Card>,
    previous: Option<String>,
    next: Option<String>,
    unread: Vec<String>,
    failure: Option<Failure>,
}

/// A package.
struct Card {
    url: String,
    icon: String,
    row: PackageRow,
    title: String,
    installed: String,
}

/// A way to narrow a search.
struct Facet {
    title: &'static str,
    values: Vec<Value>,
}

struct Value {
    text: String,
    count: usize,
    url: String,
    is_chosen: bool,
}

/// What is looked for.
#[derive(Clone, Default)]
struct Search {
    namespace: String,
    q: String,
    provides: Option<String>,
    catalog: Option<String>,
    category: Option<String>,
    capability: Option<String>,
}

/// Reads the page.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let search = Search::of(visit);
    let (rows, unread, failure) = match visit.listing().await {
        Ok(listing) => {
            let rows = search.rows(&listing.packages, &listing.subscriptions);
            (rows, listing.unread.clone(), None)
        }
        Err(error) => (Vec::new(), Vec::new(), Some(Failure::of(&error))),
    };
    let number = given(&visit.params.page).and_then(|page| page.parse().ok()).unwrap_or(1);
    let (start, previous, next) = search.pages(rows.len(), number);
    let cards = rows.iter().skip(start).take(CARDS).map(|row| card(row, visit.home()));
    html(&Catalog {
        frame: visit.frame(Page::Catalog, "Catalog", &search.command(visit)),
        narrowed: search.narrowed(),
        facets: search.facets(&rows),
        count: rows.len(),
        cards: cards.collect(),
        q: search.q,
        provides: search.provides.unwrap_or_default(),
        previous,
        next,
        unread,
        failure,
    })
}

fn card(row: &PackageRow, home: &str) -> Card {
    let source = Some(row.catalog.as_str());
    let of = [("namespace", Some(home)), ("name", Some(row.name.as_str())), ("catalog", source)];
    Card {
        url: url("/package", &of),
        icon: url("/icon", &of[..2]),
        title: short(if row.display_name.is_empty() { &row.name } else { &row.display_name }, TEXT),
        installed: short(&row.installed.join(", "), TEXT),
        row: shortened(row),
    }
}

fn shortened(row: &PackageRow) -> PackageRow {
    PackageRow {
        provider: short(&row.provider, TEXT),
        capabilities: short(&row.capabilities, TEXT),
        line: short(&row.line, TEXT),
        version: short(&row.version, TEXT),
        ..row.clone()
    }
}

impl Search {
    fn of(visit: &PageView<'_>) -> Self {
        let params = visit.params;
        let text =
            |value: &Option<String>| given(value).map(|text| text.chars().take(SEARCH).collect());
        Self {
            namespace: visit.home().to_owned(),
            q: text(&params.q).unwrap_or_default(),
            provides: text(&params.provides),
            catalog: text(&params.catalog),
            category: text(&params.category),
            capability: text(&params.capability),
        }
    }

    fn rows(
        &self,
        packages: &[olm_types::api::PackageManifest],
        subscriptions: &[olm_types::api::Subscription],
    ) -> Vec<PackageRow> {
        let query = Query {
            words: self.words(),
            provides: self.provides.clone(),
            category: self.category.clone(),
            catalog: self.catalog.clone(),
            capability: self.capability.clone(),
        };
        search(packages, subscriptions, &query)
    }

    fn words(&self) -> Vec<String> {
        self.q.split_whitespace().map(str::to_owned).collect()
    }

    fn command(&self, visit: &PageView<'_>) -> crate::command::CommandLine {
        let words = visit.command().word("search");
        let words = self.words().iter().fold(words, |words, word| words.word(word));
        let words = words.flag("--provides", self.provides.as_deref());
        words
            .flag("--source", self.catalog.as_deref())
            .flag("--category", self.category.as_deref())
            .flag("--capability", self.capability.as_deref())
    }

    /// What the form has to repeat, beside its own fields.
    fn narrowed(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("catalog", &self.catalog),
            ("category", &self.category),
            ("capability", &self.capability),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
    }

    fn url(&self, page: Option<&str>) -> String {
        let params = [
            ("namespace", Some(self.namespace.as_str())),
            ("q", Some(self.q.as_str())),
            ("provides", self.provides.as_deref()),
            ("catalog", self.catalog.as_deref()),
            ("category", self.category.as_deref()),
            ("capability", self.capability.as_deref()),
            ("page", page),
        ];
        url("/catalog", &params)
    }

    /// Where a page starts, and the addresses of those before and after it.
    fn pages(&self, count: usize, number: usize) -> (usize, Option<String>, Option<String>) {
        let last = count.div_ceil(CARDS).max(1);
        let number = number.clamp(1, last);
        let page = |number: usize| self.url(Some(&number.to_string()));
        let previous = (number > 1).then(|| page(number - 1));
        let next = (number < last).then(|| page(number + 1));
        ((number - 1) * CARDS, previous, next)
    }

    fn facets(&self, rows: &[PackageRow]) -> Vec<Facet> {
        let catalogs = rows.iter().map(|row| row.catalog.as_str());
        let categories = rows.iter().flat_map(|row| &row.categories).map(String::as_str);
        let capabilities = rows.iter().map(|row| row.capabilities.as_str());
        let narrowed = |text: Option<String>, set: fn(&mut Self, Option<String>)| {
            let mut other = self.clone();
            set(&mut other, text);
            other.url(None)
        };
        vec![
            facet("Catalog", catalogs, &self.catalog, |text| {
                narrowed(text, |search, text| search.catalog = text)
            }),
            facet("Category", categories, &self.category, |text| {
                narrowed(text, |search, text| search.category = text)
            }),
            facet("Capability", capabilities, &self.capability, |text| {
                narrowed(text, |search, text| search.capability = text)
            }),
        ]
    }
}

/// The values of a facet among what was found. The address of the chosen one leads back.
fn facet<'a>(
    title: &'static str,
    texts: impl Iterator<Item = &'a str>,
    chosen: &Option<String>,
    url: impl Fn(Option<String>) -> String,
) -> Facet {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    texts.filter(|text| !text.is_empty()).for_each(|text| *counts.entry(text).or_default() += 1);
    let is_chosen =
        |text: &str| chosen.as_deref().is_some_and(|one| one.eq_ignore_ascii_case(text));
    let mut values: Vec<Value> = counts
        .into_iter()
        .map(|(text, count)| Value {
            text: text.to_owned(),
            count,
            url: url(Some(text.to_owned()).filter(|_| !is_chosen(text))),
            is_chosen: is_chosen(text),
        })
        .collect();
    values.sort_by(|a, b| (!a.is_chosen, b.count, &a.text).cmp(&(!b.is_chosen, a.count, &b.text)));
    values.truncate(VALUES);
    Facet { title, values }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Instant;

    use olm_types::api::PackageManifest;
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
        let subscriptions = [from_value(subscription).unwrap()];
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
}
