//! A console that serves, and a browser that has opened its address.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::time::{Instant, sleep, timeout};

use crate::browser::Browser;
use crate::e2e::scenarios::Program;
use crate::wait::TIMEOUT;

/// How often a page is read while OLM is at work.
const ASK: Duration = Duration::from_millis(500);

/// The width of a small phone, and a height.
pub(super) const PHONE: (u32, u32) = (360, 740);

/// What makes a page wider than a phone; what scrolls by itself may be wider.
const WIDE: &str = "
    const wide = [...document.querySelectorAll('body *')].filter(one =>
        one.getBoundingClientRect().right > 361 && !one.closest('.wide') && !one.closest('pre'));
    const page = document.documentElement.scrollWidth;
    return page > 360 ? `${page} pixels: ` + wide.slice(0, 3).map(one => one.outerHTML.slice(0, 200)) : '';";

/// Nothing of a page keeps users out, as far as axe-core finds it.
pub(super) async fn is_accessible(browser: &Browser, what: &str) -> Result<()> {
    let found = browser.accessibility().await?;
    ensure!(found.is_empty(), "{what}: {found:#?}");
    Ok(())
}

/// Both, until dropped.
pub(super) struct Opened {
    pub(super) browser: Browser,
    /// Ends with the scenario.
    _child: Child,
    host: String,
}

impl Opened {
    /// Starts a browser and a console, and opens the address that is printed.
    pub(super) async fn start(program: &Program, args: &[&str]) -> Result<Self> {
        Self::with(Browser::start().await?, program, args).await
    }

    /// The same browser opens another console; this one ends.
    pub(super) async fn instead(self, program: &Program, args: &[&str]) -> Result<Self> {
        // A page that is live asks its own console as long as it is open.
        self.browser.open("about:blank").await?;
        self.is_calm("the page that is left").await?;
        Self::with(self.browser, program, args).await
    }

    async fn with(browser: Browser, program: &Program, args: &[&str]) -> Result<Self> {
        let mut child = program.start(&[&["console"][..], args].concat())?;
        let out = child.stdout.take().context("it has no output")?;
        let mut lines = BufReader::new(out).lines();
        let line = timeout(TIMEOUT, lines.next_line()).await.context("it prints no address")??;
        let url = line.context("it prints nothing")?;
        let host = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
        let host = host.with_context(|| format!("it prints {url}"))?.to_owned();
        let opened = Self { browser, _child: child, host };
        opened.browser.open(&url).await?;
        opened.browser.until("become the catalog", "location.pathname === '/catalog'").await?;
        Ok(opened)
    }

    /// Opens a page.
    pub(super) async fn open(&self, path: &str) -> Result<()> {
        self.browser.open(&format!("http://{}{path}", self.host)).await
    }

    /// Opens a page until it shows all of this.
    pub(super) async fn shows(&self, path: &str, parts: &[&str]) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            self.open(path).await?;
            let text = self.browser.run("return document.documentElement.textContent;").await?;
            let text = text.as_str().unwrap_or_default();
            let Some(missing) = parts.iter().find(|part| !text.contains(**part)) else {
                return Ok(());
            };
            if Instant::now() > deadline {
                bail!("{path} does not show {missing:?}:\n{text}");
            }
            sleep(ASK).await;
        }
    }

    /// Nothing has left the machine, and nothing was complained of, since the last look.
    pub(super) async fn is_calm(&self, what: &str) -> Result<()> {
        self.browser.seen().await?.is_calm(what, &self.host)
    }

    /// The page that is open does not scroll to the side on a phone.
    pub(super) async fn fits_a_phone(&self, what: &str) -> Result<()> {
        self.browser.be_a_phone(Some(PHONE)).await?;
        let wide = self.browser.run(WIDE).await?;
        self.browser.be_a_phone(None).await?;
        ensure!(wide == "", "{what} is too wide for a phone: {wide}");
        Ok(())
    }
}
