//! Works with catalogs and serves them; everything is in `olm_catalog::server` and, for programs
//! of another name, in `olm_catalog::tools`.

use std::process::ExitCode;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    olm_catalog::server::main()
}
