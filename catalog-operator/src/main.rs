//! Entry point of the catalog operator.

use olm_kit::flags::CommandLine;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    catalog_operator::run(CommandLine::of_this_process()).await
}
