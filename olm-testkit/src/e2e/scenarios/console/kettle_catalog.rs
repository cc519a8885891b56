//! What there is to look at: a kettle of which one version is installed and the next one waits.

use anyhow::Result;
use olm_types::api::Subscription;

use crate::builders::CatalogDir;
use crate::e2e::TestContext;
use crate::e2e::scenarios::kubectl_olm::console::approve;
use crate::e2e::scenarios::kubectl_olm::{NEW, OLD, subscribe, waiting_plan};
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::wait;

/// A catalog as commands read it.
pub(super) struct KettleCatalog {
    /// What `--catalog` says.
    pub(super) flag: String,
    content: CatalogDir,
}

/// Pages, by the names of their pictures.
pub(super) const PAGES: [(&str, &str); 9] = [
    ("catalog", "/catalog"),
    ("search", "/catalog?q=kettle"),
    ("package", "/package?name=kettle"),
    ("installed", "/installed"),
    ("installed-everywhere", "/installed?all=true"),
    ("operator", "/operator?name=kettle"),
    ("plans", "/plan"),
    ("plan", "/plan?name=kettle"),
    ("health", "/health"),
];

/// Forms, by the names of their pictures.
pub(super) const FORMS: [(&str, &str); 4] = [
    ("install", "/install?package=kettle"),
    ("upgrade", "/upgrade?name=kettle"),
    ("remove", "/remove?name=kettle"),
    ("create", "/create?name=kettle"),
];

impl KettleCatalog {
    /// Installs the first version of two, and waits until the second one waits for its approval.
    pub(super) async fn set_up(ctx: &TestContext) -> Result<Self> {
        ctx.operator_group().await?;
        subscribe(ctx).await?;
        let plan = waiting_plan(ctx, "kettle").await?.metadata.name.unwrap_or_default();
        approve(ctx, &plan).await?;
        ctx.succeeded(OLD).await?;
        wait::until(&ctx.api(), "kettle", "be upgradable", |subscription: &Subscription| {
            let status = subscription.status.as_ref();
            let next = status.and_then(|status| status.current_csv.as_deref());
            let pointer = status.and_then(|status| status.install_plan_ref.as_ref());
            let name = pointer.and_then(|pointer| pointer.name.as_deref());
            next == Some(NEW) && name.is_some_and(|name| name != plan)
        })
        .await?;
        waiting_plan(ctx, "kettle").await?;
        Self::of(ctx)
    }

    /// The catalog alone.
    pub(super) fn of(ctx: &TestContext) -> Result<Self> {
        let kind = kettles(ctx);
        let versions = [kettle("1.0.0", &kind), kettle("1.1.0", &kind).replaces(OLD)];
        let content = ctx.content(&stable(&versions))?;
        let flag = format!("{}/kitchen={}", ctx.namespace, content.path().display());
        Ok(Self { flag, content })
    }

    /// Where the catalog is.
    pub(super) fn folder(&self) -> String {
        self.content.path().display().to_string()
    }

    /// What the console is started with.
    pub(super) fn flags(&self) -> [&str; 3] {
        ["--catalog", &self.flag, "--no-pull"]
    }
}
