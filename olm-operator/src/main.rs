//! Entry point of the OLM operator.

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> impl std::process::Termination {
    olm_operator::main()
}
