//! Catalogs of hostile authors in a browser. What `olm-console` makes of each text is checked there; here is what
//! a browser makes of the whole page, with its pictures and policies.

mod content;

use std::sync::Arc;

use anyhow::{Result, ensure};

use super::opened::Opened;
use crate::builders::CatalogDir;
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;
use crate::{packages, wait};

/// Bytes that a page may have at most.
const LARGEST: u64 = 150 * 1024;

/// Names of attacks that there are at least.
const ATTACKS: usize = 50;

/// What an attack left behind, and how large the page is. Scripts and forms of the console itself have addresses
/// of this server.
const LOOK: &str = "
    const acting = 'script:not([src^=\"/\"]), iframe, object, embed, style, base, meta[http-equiv], \
        form:not([action^=\"/\"]), [onload], [onerror], [onclick], a[href^=\"javascript\"], a[href^=\"data\"]';
    const loaded = performance.getEntriesByType('navigation')[0];
    return {
        attacked: window.__attacked !== undefined,
        acting: [...document.querySelectorAll(acting)].map(one => one.outerHTML.slice(0, 200)),
        size: loaded.encodedBodySize,
        title: document.title,
    };";

/// Whether the page is a picture of an author.
const DRAWN: &str = "return document.querySelector('circle[r=\"30\"]') !== null;";

/// Nothing of an author acts.
pub(super) async fn play(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    packages::until_available(&ctx.client).await?;
    let (shelf, attic) = (content::attacks(), content::large());
    let names = content::names();
    ensure!(names.len() >= ATTACKS, "there are {} attacks only", names.len());
    // Pictures are those of a catalog that is served.
    ctx.catalog("shelf", &shelf).await?;
    let folders = [("shelf", ctx.content(&shelf)?), ("attic", ctx.content(&[attic])?)];
    let [shelf, attic] = folders.each_ref().map(|(name, folder)| flag(&ctx, name, folder));
    let flags = ["--catalog", &shelf, "--no-pull"];
    let opened = Opened::start(&program, &flags).await?;
    opened.shows("/catalog?q=svg-script", &["svg-script"]).await?;
    for path in ["/catalog", "/catalog?page=2", "/catalog?q=svg"] {
        look_at(&opened, path).await?;
    }
    opened.fits_a_phone("the catalog").await?;
    for name in names {
        look_at(&opened, &format!("/package?name={name}")).await?;
    }
    opened.open("/package?name=markup").await?;
    opened.fits_a_phone("a package with markup").await?;
    pictures(&opened).await?;
    let flags = ["--catalog", &attic, "--no-pull"];
    let opened = opened.instead(&program, &flags).await?;
    for path in ["/catalog?q=large", "/package?name=large"] {
        look_at(&opened, path).await?;
    }
    Ok(())
}

fn flag(ctx: &TestContext, name: &str, folder: &CatalogDir) -> String {
    format!("{}/{name}={}", ctx.namespace, folder.path().display())
}

/// Opens a page of one or more attacks.
async fn look_at(opened: &Opened, path: &str) -> Result<()> {
    opened.open(path).await?;
    let found = opened.browser.run(LOOK).await?;
    ensure!(found["attacked"] == false, "{path}: a script of the author ran");
    let acting = found["acting"].as_array().map_or(0, Vec::len);
    ensure!(acting == 0, "{path}: {}", found["acting"]);
    let size = found["size"].as_u64().unwrap_or(u64::MAX);
    ensure!(size <= LARGEST, "{path} has {size} bytes");
    let title = found["title"].as_str().unwrap_or_default();
    ensure!(!title.chars().any(turns), "{path}: the title turns its direction: {title:?}");
    opened.is_calm(path).await
}

/// Whether a character changes the direction of those behind it.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A picture that is opened as a page runs nothing, either.
async fn pictures(opened: &Opened) -> Result<()> {
    for name in content::PICTURES {
        let path = format!("/icon?name={name}");
        wait::until_ok("is the picture of the author", || async {
            opened.open(&path).await?;
            let found = opened.browser.run(DRAWN).await?;
            ensure!(found == true, "{name} is another picture");
            anyhow::Ok(())
        })
        .await?;
        let attacked = opened.browser.run("return window.__attacked !== undefined;").await?;
        ensure!(attacked == false, "the script of {name} ran");
        let seen = opened.browser.seen().await?;
        ensure!(seen.dialogs.is_empty(), "{name}: {:?}", seen.dialogs);
        let outside = |url: &&String| url.contains("evil.example");
        let asked: Vec<&String> = seen.requests.iter().filter(outside).collect();
        // What its policy forbids is in the log of requests, too, and complained of.
        let is_forbidden = |error: &&String| {
            error.contains("evil.example") && error.contains("Content Security Policy")
        };
        let forbidden = seen.errors.iter().filter(is_forbidden).count();
        ensure!(forbidden >= asked.len(), "{name} asks for {asked:?}: {:?}", seen.errors);
    }
    Ok(())
}
