//! Any JSON or YAML: what is made of it takes no more memory than its budget, counted by the allocator.

#![no_main]

#[path = "../../olm-types/tests/memory/check.rs"]
mod check;

use libfuzzer_sys::fuzz_target;
use olm_types::document::Budget;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Small, so that inputs reach every bound.
const BUDGET: Budget = Budget { bytes: 64 << 10, values: 2_000, memory: 256 << 10, depth: 64 };

fuzz_target!(|text: &str| check::check(&ALLOCATOR, text, BUDGET));
