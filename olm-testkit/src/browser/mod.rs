//! A real browser without a window: Debian's chromium, asked through its driver.
//!
//! Nothing that it opens leaves the machine: no name but `127.0.0.1` is resolved. Its profile is a folder of
//! its own. Both processes end when it is dropped, and when this process ends in any way.
//!
//! - `axe`: what of a page keeps users out;
//! - `devtools`: commands that only chromium has;
//! - `packages`: where it comes from;
//! - `seen`: what it asked for and complained of.

mod axe;
mod devtools;
mod packages;
mod page_log;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::key::Key;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::operators::free_port;
use crate::process::{Launch, Lifetime, Running};
use crate::wait::TIMEOUT;
pub use axe::missing as missing_axe;
use devtools::Command;
pub use packages::{missing, missing_packages};
pub use page_log::PageLog;

/// Between two looks at a page.
const ASK: Duration = Duration::from_millis(100);

/// Size of the window, in pixels.
const WINDOW: (u32, u32) = (1280, 900);

/// Characters of a page that a failure shows.
const SHOWN: usize = 2000;

/// The highest picture, in pixels: of a longer page its beginning.
const HIGHEST: u32 = 1800;

/// Arguments of the browser. It ends with its driver, however that ends, as they are connected by a pipe.
const ARGUMENTS: [&str; 11] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

/// A browser with one page.
pub struct Browser {
    client: Client,
    /// Ends before the folder goes.
    driver: Option<Running>,
    _folder: TempDir,
}

/// Which colours a user prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Scheme {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// As CSS calls it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl Browser {
    /// Starts a browser that shows nothing.
    ///
    /// # Errors
    /// It is not installed, or does not start; the log of its driver is a part of the message.
    pub async fn start() -> Result<Self> {
        let (browser, driver) = packages::programs()?;
        let folder = tempfile::tempdir().context("cannot create a folder for the browser")?;
        let port = free_port()?;
        let home = folder.path().to_string_lossy().into_owned();
        let places = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"];
        let launch = Launch {
            name: "chromedriver".to_owned(),
            program: driver,
            args: vec![format!("--port={port}"), "--allowed-ips=127.0.0.1".to_owned()],
            env: places.map(|name| (name.to_owned(), home.clone())).into(),
            log: folder.path().join("driver.log"),
            lifetime: Lifetime::Command,
        };
        let mut driver = launch.start()?;
        driver.until_listening(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let capabilities = capabilities(&browser, folder.path());
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities.as_object().cloned().unwrap_or_default());
        let connected = builder.connect(&format!("http://127.0.0.1:{port}")).await;
        let client = connected.with_context(|| {
            let said = crate::process::tail(driver.log(), 15);
            format!("the browser does not start; its driver says:\n{said}")
        })?;
        let started = Self { client, driver: Some(driver), _folder: folder };
        // Its first page is one of its own, which asks for much.
        started.open("about:blank").await?;
        started.seen().await?;
        Ok(started)
    }

    /// Opens an address and waits until all of its page is loaded.
    ///
    /// # Errors
    /// It is no page.
    pub async fn open(&self, url: &str) -> Result<()> {
        self.client.goto(url).await.with_context(|| format!("the browser cannot open {url}"))
    }

    /// Runs a script in the page, whose policy does not hold for it; what it returns.
    ///
    /// # Errors
    /// It fails.
    pub async fn run(&self, script: &str) -> Result<Value> {
        let ran = self.client.execute(script, Vec::new()).await;
        ran.with_context(|| format!("a script fails: {script}"))
    }

    /// Waits until an expression is true in the page, which may be another one by then.
    ///
    /// `what` completes the sentence "the page does not …".
    ///
    /// # Errors
    /// It is not in time; the message shows the page.
    pub async fn until(&self, what: &str, expression: &str) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        let script = format!("return Boolean({expression});");
        loop {
            // While a page is loaded, scripts may fail.
            let holds = self.client.execute(&script, Vec::new()).await;
            if holds.as_ref().is_ok_and(|value| *value == Value::Bool(true)) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let page = self.page().await;
                bail!("the page does not {what} ({holds:?}): {page}");
            }
            sleep(ASK).await;
        }
    }

    /// Waits until the page shows a text.
    ///
    /// # Errors
    /// It does not in time; the message shows the page.
    pub async fn until_shown(&self, text: &str) -> Result<()> {
        let quoted = Value::from(text);
        let expression = format!("document.body.textContent.includes({quoted})");
        self.until(&format!("show {text:?}"), &expression).await
    }

    /// Clicks on what a CSS selector finds first.
    ///
    /// # Errors
    /// There is none, or it cannot be clicked on.
    pub async fn click(&self, selector: &str) -> Result<()> {
        let found = self.client.wait().at_most(TIMEOUT).for_element(Locator::Css(selector)).await;
        let clicked = async { found?.click().await };
        clicked.await.with_context(|| format!("cannot click on {selector}"))
    }

    /// Writes a text into a field, in place of what is there. The focus is in it first, as with a user: a page that is
    /// live puts no other in its place from then on.
    ///
    /// # Errors
    /// There is no such field.
    pub async fn fill(&self, selector: &str, text: &str) -> Result<()> {
        let locator = Locator::Css(selector);
        let filled = async {
            self.client.wait().at_most(TIMEOUT).for_element(locator).await?;
            let focus = format!("document.querySelector({selector:?}).focus();");
            self.client.execute(&focus, Vec::new()).await?;
            let field = self.client.find(locator).await?;
            field.clear().await?;
            field.send_keys(text).await
        };
        filled.await.with_context(|| format!("cannot fill in {selector}"))
    }

    /// Presses a key, as a user without a mouse does.
    ///
    /// # Errors
    /// The browser has ended.
    pub async fn press(&self, key: Key) -> Result<()> {
        let value = key.chars().next().context("a key without a code")?;
        let keys = KeyActions::new("keyboard".to_owned());
        let keys = keys.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        self.client.perform_actions(keys).await.context("cannot press a key")
    }

    /// Prefers colours from now on.
    ///
    /// # Errors
    /// The browser has ended.
    pub async fn prefer(&self, scheme: Scheme) -> Result<()> {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme.as_str()});
        let features = json!({"features": [feature]});
        self.devtools("Emulation.setEmulatedMedia", features).await.map(drop)
    }

    /// Is a phone of this size from now on; a desktop without it.
    ///
    /// # Errors
    /// The browser has ended.
    pub async fn be_a_phone(&self, size: Option<(u32, u32)>) -> Result<()> {
        let Some((width, height)) = size else {
            return self
                .devtools("Emulation.clearDeviceMetricsOverride", json!({}))
                .await
                .map(drop);
        };
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": true});
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await.map(drop)
    }

    /// What the browser asked for and complained of since the last look.
    ///
    /// # Errors
    /// The browser has ended.
    pub async fn seen(&self) -> Result<PageLog> {
        let console = self.client.issue_cmd(Command::log("browser")).await;
        let network = self.client.issue_cmd(Command::log("performance")).await;
        let (console, network) =
            (console.context("cannot read the console")?, network.context("cannot read requests")?);
        Ok(PageLog::of(&console, &network))
    }

    /// Writes a picture of the page, or of its beginning.
    ///
    /// # Errors
    /// There is no picture, or it cannot be written.
    pub async fn picture(&self, file: &Path) -> Result<()> {
        self.picture_of("html", file).await
    }

    /// Writes a picture of what a CSS selector finds first, or of its beginning.
    ///
    /// # Errors
    /// There is none, or the picture cannot be written.
    pub async fn picture_of(&self, selector: &str, file: &Path) -> Result<()> {
        let selector = Value::from(selector);
        let script = format!(
            "const all = document.querySelector({selector}).getBoundingClientRect();
             return {{x: all.x + scrollX, y: all.y + scrollY, width: all.width, scale: 1,
                 height: Math.min(all.height, {HIGHEST})}};"
        );
        let clip = self.run(&script).await?;
        let asked = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let taken = self.devtools("Page.captureScreenshot", asked).await?;
        let encoded = taken["data"].as_str().context("the browser makes no picture")?;
        let bytes = STANDARD.decode(encoded).context("a picture that cannot be read")?;
        ensure!(bytes.starts_with(b"\x89PNG"), "a picture that is none");
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).context("cannot create a folder for pictures")?;
        }
        std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
    }

    /// What axe-core finds wrong with the page, of what WCAG asks for at level AA: one line for each rule.
    ///
    /// # Errors
    /// It cannot be got, or does not run.
    pub async fn accessibility(&self) -> Result<Vec<String>> {
        axe::findings(&self.client).await
    }

    /// The address and the text of the page, for a message.
    async fn page(&self) -> String {
        let script = "return location.href + '\\n' + document.body.innerText;";
        match self.client.execute(script, Vec::new()).await {
            Ok(page) => page.as_str().unwrap_or_default().chars().take(SHOWN).collect(),
            Err(error) => format!("nothing can be read of it: {error}"),
        }
    }

    async fn devtools(&self, command: &'static str, parameters: Value) -> Result<Value> {
        let ran = self.client.issue_cmd(Command::devtools(command, &parameters)).await;
        ran.with_context(|| format!("the browser refuses {command}"))
    }
}

impl Drop for Browser {
    /// The driver ends the browser when it is asked to end.
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.stop();
        }
    }
}

fn capabilities(browser: &Path, folder: &Path) -> Value {
    let (width, height) = WINDOW;
    let own = [
        format!("--window-size={width},{height}"),
        format!("--user-data-dir={}", folder.join("profile").display()),
    ];
    // Root has no sandbox.
    let root = rustix::process::geteuid().is_root().then_some("--no-sandbox");
    let arguments: Vec<&str> =
        ARGUMENTS.into_iter().chain(root).chain(own.iter().map(String::as_str)).collect();
    json!({
        "browserName": "chrome",
        // A console of a cluster has a certificate that the scenario has made; no other name is resolved.
        "acceptInsecureCerts": true,
        // A dialog stays, so that it is noticed.
        "unhandledPromptBehavior": "ignore",
        "goog:chromeOptions": {"binary": browser, "args": arguments},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    })
}
