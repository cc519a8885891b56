//! Objects from files, as kubectl prints them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use olm_plan::preview::Known;
use olm_types::document::{self, Budget, Meter};
use serde_json::Value;

/// All objects of files: each holds objects, lists of them, or several documents of these.
///
/// # Errors
/// A file cannot be read.
pub fn read(files: &[PathBuf]) -> Result<Known> {
    let mut known = Known { is_everything: true, ..Known::default() };
    for file in files {
        let cannot_read = || format!("cannot read {}", file.display());
        let text = fs::read(file).with_context(cannot_read)?;
        let documents = document::all(&text, &mut Meter::in_all(Budget::CATALOG))
            .map_err(|(number, error)| anyhow!("document {number}: {error}"))
            .with_context(cannot_read)?;
        for mut document in documents {
            match document.get_mut("items").map(Value::take) {
                Some(Value::Array(items)) => items.into_iter().for_each(|item| known.add(item)),
                _ => known.add(document),
            }
        }
    }
    Ok(known)
}
