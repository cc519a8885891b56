//! Bundles on their way out of images: the rows of spec catalog-operator 9.10, and what v0 does not
//! test.

mod build;
mod causes;
mod jobs;
mod lookup_states;
mod manifests;
mod references;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use build::*;

/// `bundle-path`, as v0's tests call it.
const IMAGE: &str = "bundle-path";

fn now() -> Timestamp {
    at(1_000)
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}
