//! Entry point of the OLM operator.

use clap::Parser;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    olm_operator::run(olm_operator::Args::parse()).await
}
