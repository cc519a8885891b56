//! Reads a text in every way, with an allocator that counts. The fuzz target `document` uses this file, too.

use olm_types::document::{self, Budget, Meter};
use peak_alloc::PeakAlloc;
use serde::Deserialize;

/// Bytes of memory that readers may take for a byte of text, beside the values: copies of the text, and
/// what a scanner keeps of it.
const PER_BYTE: usize = 24;

/// Bytes of memory that readers take for any text: 1,024 characters may be the key of a map in YAML,
/// and until that is known a scanner keeps a token for each of them.
const FIXED: usize = 1 << 20;

/// What a typed reader makes of a list of maps.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[allow(dead_code, reason = "only read")]
struct Entry {
    name: String,
    value: u64,
}

/// Reads a text in every way. Panics where more memory is in use at the same time than the budget says.
pub fn check(allocator: &PeakAlloc, text: &str, budget: Budget) {
    let bytes = text.as_bytes();
    within(allocator, text, budget, |meter| drop(document::json(bytes, meter)));
    within(allocator, text, budget, |meter| drop(document::yaml(text, meter)));
    within(allocator, text, budget, |meter| drop(document::first(bytes, meter)));
    within(allocator, text, budget, |meter| drop(document::all(bytes, meter)));
    within(allocator, text, budget, |_| drop(document::json_as::<Vec<Entry>>(text, &budget)));
}

fn within(allocator: &PeakAlloc, text: &str, budget: Budget, read: impl FnOnce(&mut Meter)) {
    let mut meter = Meter::in_all(budget);
    allocator.reset_peak_usage();
    let before = allocator.current_usage();
    read(&mut meter);
    let taken = allocator.peak_usage().saturating_sub(before);
    let allowed = budget.memory + PER_BYTE * text.len() + FIXED;
    assert!(
        taken <= allowed,
        "{taken} bytes were in use for a text of {} bytes; at most {allowed} may be ({meter:?})",
        text.len()
    );
}
