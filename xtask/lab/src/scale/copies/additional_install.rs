//! One more operator, by Subscription, where much is installed already.

use std::time::Duration;

use anyhow::Result;
use olm_testkit::builders::csv;
use olm_types::api::InstallModeType;
use tokio::time::Instant;

use super::load::Origin;
use crate::scale::published::Published;
use crate::scale::setup::Setup;

const CSV: &str = "extra.v1.0.0";

/// From the Subscription to the CSV that has succeeded.
pub(super) async fn time(setup: &Setup, origin: &Origin) -> Result<Duration> {
    let csv = csv(CSV, "1.0.0")
        .deployment("extra", "default")
        .install_modes(&[InstallModeType::AllNamespaces]);
    let published = Published { package: "extra", csv, crds: Vec::new() };
    let home = origin.home();
    let catalog = published.put(setup, &home.name, "extras").await?;
    let started = Instant::now();
    home.create(&catalog.subscription(&home.name)).await?;
    origin.succeeded(CSV).await?;
    let took = started.elapsed();
    catalog.withdraw().await?;
    Ok(took)
}
