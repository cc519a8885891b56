//! What a scenario is.

use anyhow::Result;
use async_trait::async_trait;
use futures::future::BoxFuture;
use olm_testkit::builders::Package;

use super::context::TestContext;

/// Inputs, steps with waits, and an end.
#[async_trait]
pub(super) trait Scenario: Send + Sync {
    /// How it is called on the command line.
    fn name(&self) -> &'static str;

    /// One line for a reader.
    fn about(&self) -> &'static str;

    /// The content of the catalogs, by name. They are served; nothing refers to them yet.
    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)>;

    /// What is there already. The operators run undisturbed meanwhile, and what they write is no
    /// crash point.
    fn before<'a>(&'a self, _ctx: &'a TestContext) -> Option<BoxFuture<'a, Result<()>>> {
        None
    }

    /// What happens while operators crash. It ends when everything that was asked for is there.
    async fn steps(&self, ctx: &TestContext) -> Result<()>;
}
