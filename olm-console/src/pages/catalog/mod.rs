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
pub(super) mod tests;
