//! Entry point of the catalog operator.

use clap::Parser;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    catalog_operator::run(catalog_operator::Args::parse()).await
}
