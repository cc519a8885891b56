//! Entry point of the OLM operator.

use olm_kit::flags::CommandLine;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    olm_operator::run(CommandLine::of_this_process()).await
}
