//! `cargo xtask figures`: how large the code is, crate by crate.
//!
//! Lines are counted as they stand, blank ones and comments among them. Tests are files for tests, and
//! what stands under `#[cfg(test)]` in others. Generated files are left out.
//!
//! Not tokei: it counts tests inside a file and generated files as code, and neither functions nor public
//! items without words.

mod measure;
mod table;

use anyhow::Result;

use crate::workspace;
use measure::Crate;

/// Prints the table. Fails when a public item has no documentation.
///
/// # Errors
/// Files cannot be read, or a public item lacks its words.
pub fn run() -> Result<()> {
    let crates = measure::crates(&workspace::files()?);
    print!("{}", table::of(&crates));
    let silent: Vec<&String> = crates.iter().flat_map(|one| &one.undocumented).collect();
    silent.iter().for_each(|item| println!("not documented: {item}"));
    anyhow::ensure!(silent.is_empty(), "{} public items are not documented", silent.len());
    Ok(())
}

/// Sums of all crates, as if they were one.
fn all(crates: &[Crate]) -> Crate {
    let mut sum = Crate { name: "all".to_owned(), ..Crate::default() };
    for one in crates {
        sum.code += one.code;
        sum.tests += one.tests;
        sum.files.extend(one.files.iter().cloned());
        sum.functions.extend(one.functions.iter().cloned());
        sum.undocumented.extend(one.undocumented.iter().cloned());
    }
    sum
}
