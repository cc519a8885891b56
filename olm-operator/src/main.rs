//! Entry point of the OLM operator.

use olm_kit::flags::CommandLine;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    olm_operator::run(CommandLine::of_this_process()).await
}
