//! Entry point of the catalog operator.

use olm_kit::flags::CommandLine;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    catalog_operator::run(CommandLine::of_this_process()).await
}
