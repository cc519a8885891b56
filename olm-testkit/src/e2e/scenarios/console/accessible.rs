//! What keeps users out of a page, as far as axe-core finds it.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::kettle_catalog::{FORMS, KettleCatalog, PAGES};
use super::opened::{Opened, is_accessible};
use crate::browser::Scheme;
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;

/// Pages beside those with something on them.
const OTHERS: [&str; 4] = [
    "/catalog?q=nothing",
    "/package?name=none",
    "/operator?name=none",
    "/installed?namespace=kube-public",
];

/// A page that breaks a rule, without which a silent tool would pass for a good page.
const BROKEN: &str = "document.documentElement.removeAttribute('lang');";

/// Nothing is found on any page.
pub(super) async fn check(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let kettles = KettleCatalog::set_up(&ctx).await?;
    let opened = Opened::start(&program, &kettles.flags()).await?;
    let browser = &opened.browser;
    for scheme in Scheme::ALL {
        browser.prefer(scheme).await?;
        for path in PAGES.iter().chain(&FORMS).map(|(_, path)| *path).chain(OTHERS) {
            opened.open(path).await?;
            is_accessible(browser, &format!("{path}, {}", scheme.as_str())).await?;
        }
        answers(&opened).await.with_context(|| scheme.as_str())?;
    }
    browser.run(BROKEN).await?;
    let found = browser.accessibility().await?;
    ensure!(found.iter().any(|one| one.starts_with("html-has-lang")), "it finds {found:?}");
    Ok(())
}

/// What forms are answered: a plan, and a refusal beside what was typed.
async fn answers(opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    opened.open("/install?package=kettle").await?;
    browser.click("#install-form button[value=plan]").await?;
    let planned = "document.querySelector('#comes') || document.querySelector('main .failure')";
    browser.until("show a plan, or why there is none", planned).await?;
    is_accessible(browser, "the plan of an installation").await?;
    opened.open("/create?name=kettle").await?;
    browser.fill("#object", "kind: [").await?;
    browser.click("#create-form button[value=check]").await?;
    browser.until("refuse it", "document.querySelector('main .failure')").await?;
    is_accessible(browser, "a custom resource that is refused").await
}
