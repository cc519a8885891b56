//! Committed files that a command writes must be what the command would write now.

use anyhow::Result;

use super::Workspace;
use crate::{codegen, crds, rbac, shapes};

/// Generated files that differ from their source.
pub(super) fn stale(_: &Workspace) -> Result<Vec<String>> {
    let generators: [fn(bool) -> Result<()>; 4] = [codegen::run, crds::run, rbac::run, shapes::run];
    let failures = generators.iter().filter_map(|generate| generate(true).err());
    Ok(failures.map(|error| format!("{error:#}")).collect())
}
