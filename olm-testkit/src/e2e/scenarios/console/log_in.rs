//! The console of a cluster: a token is pasted on its login page.

use std::sync::Arc;

use anyhow::{Result, ensure};

use super::look::folder;
use super::opened::is_accessible;
use crate::browser::{Browser, Scheme};
use crate::e2e::TestContext;
use crate::e2e::scenarios::kubectl_olm::console_hosted::{Hosted, Names};
use crate::e2e::scenarios::kubectl_olm::console_login::Users;
use crate::e2e::scenarios::kubectl_olm::subscribe;
use crate::operators::free_port;
use crate::wait;

/// Where the button of the login page is.
const BUTTON: &str = "form[action='/login'] button";

/// What a page can see of the session.
const SEEN: &str = "return document.cookie + location.href + document.documentElement.outerHTML;";

/// Logs in, looks, and logs out.
pub(super) async fn go(ctx: Arc<TestContext>) -> Result<()> {
    subscribe(&ctx).await?;
    let users = Users::make(&ctx).await?;
    let host = format!("127.0.0.1:{}", free_port()?);
    let names = Names { listen: &host, certificate: "127.0.0.1", host: &host };
    let _hosted = Hosted::start(&ctx, names).await?;
    let browser = Browser::start().await?;
    let site = format!("https://{host}");
    for scheme in Scheme::ALL {
        browser.prefer(scheme).await?;
        browser.open(&format!("{site}/login")).await?;
        is_accessible(&browser, "/login").await?;
        browser.picture(&folder().join(format!("login-{}.png", scheme.as_str()))).await?;
    }
    browser.fill("#token", &users.viewer).await?;
    browser.click(BUTTON).await?;
    browser.until("become the catalog", "location.pathname === '/catalog'").await?;
    let page = format!("{site}/installed?namespace={}", ctx.namespace);
    shows(&browser, &page, "kettle").await?;
    let seen = browser.run(SEEN).await?.to_string();
    ensure!(!seen.contains(&users.viewer) && !seen.contains("__Host-"), "a page sees {seen}");
    is_accessible(&browser, "a page of a user who has logged in").await?;
    browser.seen().await?.is_calm("a login", &host)?;
    browser.click("form[action='/logout'] button").await?;
    browser.until("become the login page", "location.pathname === '/login'").await?;
    browser.seen().await?.is_calm("the way out", &host)?;
    browser.open(&page).await?;
    browser.until_shown("Log in").await
}

/// Opens a page until it shows this: the viewer's rights come from a role that is aggregated within moments.
async fn shows(browser: &Browser, url: &str, part: &str) -> Result<()> {
    let text = "return document.querySelector('main').textContent;";
    wait::until_ok("is what the viewer may see", || async {
        browser.open(url).await?;
        let text = browser.run(text).await?.to_string();
        ensure!(text.contains(part), "{url} shows {text}");
        anyhow::Ok(())
    })
    .await
}
