//! One more operator, by Subscription, where much is installed already.

use std::time::Duration;

use anyhow::Result;
use olm_testkit::builders::{self, Bundle, CatalogDir, Package, csv};
use olm_types::api::InstallModeType;
use tokio::time::Instant;

use super::load::Origin;
use crate::scale::stage::Stage;

const CSV: &str = "newcomer.v1.0.0";

/// From the Subscription to the CSV that has succeeded; none where no catalog can be served.
pub(super) async fn time(stage: &Stage, origin: &Origin) -> Result<Option<Duration>> {
    let csv = csv(CSV, "1.0.0")
        .deployment("newcomer", "default")
        .install_modes(&[InstallModeType::AllNamespaces]);
    let package = Package::single("newcomer", Bundle::new("1.0.0", &csv));
    let Some(registry) = stage.serve("newcomers", CatalogDir::of(&[package])?)? else {
        return Ok(None);
    };
    let home = origin.home();
    let source = builders::catalog_source(&home.name, "newcomers", &registry.address());
    home.create(&source).await?;
    stage.until_ready(&home.name, "newcomers").await?;
    let started = Instant::now();
    home.create(&builders::subscription(&home.name, "newcomer", "stable", "newcomers")).await?;
    origin.succeeded(CSV).await?;
    Ok(Some(started.elapsed()))
}
