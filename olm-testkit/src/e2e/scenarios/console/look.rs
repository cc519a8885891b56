//! Looking: search, open, move, by mouse and by keyboard.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use fantoccini::key::Key;
use olm_tools::workspace;

use super::kettle_catalog::{FORMS, KettleCatalog, PAGES};
use super::opened::{Opened, PHONE};
use crate::browser::Scheme;
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;
use crate::e2e::scenarios::kubectl_olm::{NEW, OLD};

/// Where pictures are written, from the root of the checkout.
const PICTURES: &str = "target/console";

/// Most keys that are pressed on a page.
const KEYS: usize = 300;

/// Numbers what a keyboard has to reach, in the order in which it is written; how much there is.
const NUMBER: &str = "
    const kinds = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]';
    const all = [...document.querySelectorAll(kinds)].filter(one => one.checkVisibility() && !one.disabled);
    all.forEach((one, place) => { one.place = place; });
    return all.length;";

/// Where the focus is: the number, whether it is seen, and what it is.
const FOCUS: &str = "
    const one = document.activeElement;
    const isSeen = part => getComputedStyle(part).outlineStyle !== 'none';
    const place = one.place === undefined ? -1 : one.place;
    return [place, isSeen(one) || [...one.children].some(isSeen), one.outerHTML.slice(0, 200)];";

/// The dot of a bundle in the graph, by its number.
const DOT: &str = "return [...document.querySelectorAll('svg.graph a')]
    .find(one => one.getAttribute('aria-label').startsWith('kettle.v1.0.0 ')).place;";

/// Every page is there, and calm.
pub(super) async fn look(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?.by_environment();
    let kettles = KettleCatalog::set_up(&ctx).await?;
    let opened = Opened::start(&program, &kettles.flags()).await?;
    opened.is_calm("the first page").await?;
    as_it_is_typed(&opened).await?;
    by_mouse(&opened).await?;
    by_keyboard(&opened).await?;
    opened.shows("/installed", &["1.0.0", "1.1.0", "NeedsApproval"]).await?;
    opened.shows("/operator?name=kettle", &[OLD, "Deployment kettle-manager"]).await?;
    opened.shows("/plan?name=kettle", &[NEW, "version 1.1.0"]).await?;
    opened.shows("/health", &["OLM013"]).await?;
    let paths = [program.kubeconfig().display().to_string(), kettles.folder()];
    for scheme in Scheme::ALL {
        every_page(&opened, scheme, &paths).await?;
    }
    details(&opened).await
}

/// What is typed is searched for without a key, and becomes a part of the address.
async fn as_it_is_typed(opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    opened.shows("/catalog", &["kettle"]).await?;
    for (words, cards) in [("no-such-package", 0), ("kettle", 1)] {
        browser.fill("#search", words).await?;
        let address = format!("new URLSearchParams(location.search).get('q') === '{words}'");
        browser.until("become the address of the search", &address).await?;
        let found = format!("document.querySelectorAll('#found .card').length === {cards}");
        browser.until("show what is found", &found).await?;
        let command = format!("document.querySelector('#command').textContent.endsWith('{words}')");
        browser.until("name the command of the search", &command).await?;
    }
    opened.open("/catalog").await?;
    opened.is_calm("a search as it is typed").await
}

/// A search by words, and a package behind its card.
async fn by_mouse(opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    browser.fill("#search", "kettle").await?;
    browser.press(Key::Enter).await?;
    browser.until("search", "new URLSearchParams(location.search).get('q') === 'kettle'").await?;
    browser.click(".card a[href*='name=kettle']").await?;
    browser.until("become the package", "location.pathname === '/package'").await?;
    for text in [OLD, NEW, "You are here"] {
        browser.until_shown(text).await?;
    }
    let picture = "document.querySelectorAll('svg.graph circle').length >= 2";
    browser.until("draw the graph", picture).await?;
    opened.is_calm("a search").await
}

/// Tab reaches all of a page in its order and is seen there; Enter on a dot of the graph opens its version.
async fn by_keyboard(opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    opened.open("/package?name=kettle").await?;
    let count = number(opened).await?;
    ensure!(count > 10, "there are {count} things to reach");
    for place in 0..count {
        let (seen, what) = tab_to(opened, place).await?;
        ensure!(seen, "the focus is not seen on {what}");
    }
    opened.open("/package?name=kettle").await?;
    number(opened).await?;
    let dot = browser.run(DOT).await?.as_u64().context("the graph has no such dot")?;
    for place in 0..=dot {
        tab_to(opened, place).await?;
    }
    browser.press(Key::Enter).await?;
    let version = format!("new URLSearchParams(location.search).get('version') === '{OLD}'");
    browser.until("open the version of the dot", &version).await?;
    opened.is_calm("a keyboard").await
}

async fn number(opened: &Opened) -> Result<u64> {
    opened.browser.run(NUMBER).await?.as_u64().context("a page that is not numbered")
}

/// Goes on to the thing of this number; whether the focus is seen there, and what it is. What a browser reaches
/// beside what is numbered, as it scrolls, is passed.
async fn tab_to(opened: &Opened, place: u64) -> Result<(bool, String)> {
    for _ in 0..KEYS {
        opened.browser.press(Key::Tab).await?;
        let focus = opened.browser.run(FOCUS).await?;
        let (reached, what) = (focus[0].as_u64(), focus[2].to_string());
        ensure!(reached.is_none_or(|reached| reached == place), "{what} comes before {place}");
        if reached.is_some() {
            return Ok((focus[1] == true, what));
        }
    }
    anyhow::bail!("Tab does not reach {place}")
}

/// Pictures of a graph, and of a phone.
async fn details(opened: &Opened) -> Result<()> {
    let (browser, folder) = (&opened.browser, folder());
    opened.open("/package?name=kettle").await?;
    browser.picture_of("section[aria-labelledby=graph]", &folder.join("graph-dark.png")).await?;
    browser.prefer(Scheme::Light).await?;
    browser.be_a_phone(Some(PHONE)).await?;
    opened.open("/catalog").await?;
    browser.picture(&folder.join("phone-light.png")).await?;
    browser.be_a_phone(None).await
}

/// Where pictures are written.
pub(super) fn folder() -> PathBuf {
    workspace().join(PICTURES)
}

/// Pictures of every page, which has no error, names no path of this machine and fits a phone.
async fn every_page(opened: &Opened, scheme: Scheme, paths: &[String]) -> Result<()> {
    opened.browser.prefer(scheme).await?;
    let folder = folder();
    for (name, path) in PAGES.into_iter().chain(FORMS) {
        let what = format!("{path}, {}", scheme.as_str());
        opened.open(path).await?;
        let background = "getComputedStyle(document.body).backgroundColor";
        let dark = opened.browser.run(&format!("return {background};")).await?;
        let is_light = dark == "rgb(255, 255, 255)";
        ensure!(is_light == (scheme == Scheme::Light), "{what} has the background {dark}");
        let text = opened.browser.run("return document.documentElement.textContent;").await?;
        let text = text.as_str().unwrap_or_default();
        let path = paths.iter().find(|path| text.contains(*path));
        ensure!(text.contains("kubectl olm") && path.is_none(), "{what} names {path:?}");
        let file = format!("{name}-{}.png", scheme.as_str());
        opened.browser.picture(&folder.join(file)).await?;
        opened.fits_a_phone(&what).await?;
        opened.is_calm(&what).await?;
    }
    Ok(())
}
