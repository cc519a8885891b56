//! What olm-operator holds for copies: memory with them, less memory without them.
//!
//! It is started anew while copying is switched off, so that nothing is left of what it did before; then all
//! copies are made again. Pages of its program do not count: which of them are resident depends on what it
//! did, and not on how many copies there are.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::operators::Operator;
use olm_types::api::OLMConfig;
use serde_json::json;
use tokio::time::sleep;

use super::load::Origin;
use crate::scale::measures::{REST, count};
use crate::scale::requests::Requests;
use crate::scale::setup::Setup;
use crate::scale::table::Table;

/// Bytes for each copy: 2,500 of them take less than a megabyte.
const PER_COPY: f64 = 400.0;

/// Megabytes that so many copies take.
pub(super) async fn measure(
    copies: usize,
    time_limit: Duration,
    (setup, origin): (&mut Setup, &Origin),
    requests: &mut Requests,
    table: &mut Table,
) -> Result<()> {
    let name = format!("{}, memory for {copies} copies", Operator::Olm);
    if setup.anonymous(Operator::Olm)?.is_none() {
        table.missing(&name, "the process is not ours");
        return Ok(());
    }
    copy(false, setup).await?;
    requests.until_idle(time_limit).await?;
    let left = origin.copies_now().await?;
    ensure!(left == 0, "{left} copies are left although copying is switched off");
    setup.restart(Operator::Olm).await?;
    let without = at_rest(setup).await?;
    copy(true, setup).await?;
    requests.until_idle(time_limit).await?;
    let there = origin.copies_now().await?;
    ensure!(there >= copies, "{there} of {copies} copies are there again");
    let took = at_rest(setup).await? - without;
    table.bounded(&name, took / 1e6, PER_COPY * count(copies) / 1e6, "MB");
    Ok(())
}

/// Switches copying on or off.
async fn copy(enabled: bool, setup: &Setup) -> Result<()> {
    let configs: Api<OLMConfig> = Api::all(setup.client.clone());
    let config = json!({
        "apiVersion": OLMConfig::API_VERSION, "kind": OLMConfig::KIND,
        "metadata": {"name": "cluster"},
        "spec": {"features": {"disableCopiedCSVs": !enabled}},
    });
    let params = PatchParams::apply("scale").force();
    let applied = configs.patch("cluster", &params, &Patch::Apply(config)).await;
    applied.map(drop).context("cannot switch copying")
}

/// Bytes of the operator that are no pages of its program, after a rest.
async fn at_rest(setup: &Setup) -> Result<f64> {
    sleep(REST).await;
    setup.anonymous(Operator::Olm)?.context("the process is not ours")
}
