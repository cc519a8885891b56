//! `cargo xtask test`: everything that must hold before a change is good.
//!
//! Every stage runs even when an earlier one has failed, and takes its place in the table of times at
//! the end. The last line is the sum of all.

mod advisories;
mod arguments;
mod background;
mod beside;
mod changed;
pub mod concerns;
mod output;
mod programs;
mod run;
pub mod shipped;
mod stages;
mod summary;

use anyhow::Result;

pub use arguments::Arguments;
use run::Run;

/// Runs every stage, or what a change concerns, and fails when one of them did.
///
/// # Errors
/// What a change is cannot be known, or the table of times cannot be written. When something else
/// failed, the process ends here with exit code 1: the sum is the last line.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut run = Run::new();
    match (&arguments.changed, &arguments.scenarios) {
        (Some(base), _) => changed::run(&mut run, base.as_deref())?,
        (None, Some((names, rounds))) => {
            stages::some_scenarios(&mut run, names, *rounds, arguments);
        }
        (None, None) => stages::all(&mut run),
    }
    run.finish()
}
