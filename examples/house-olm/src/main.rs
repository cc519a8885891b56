//! An OLM with two rules of the house: `house-olm olm-operator FLAG…` and
//! `house-olm catalog-operator FLAG…`.
//!
//! - Nothing is installed before a person has reviewed it: [`reviewed::Reviewed`], a stage of CSVs.
//! - A bundle may ask for another one that is built for an architecture: [`arch::ArchKind`], a kind of
//!   constraint.
//!
//! Everything else, flags included, is that of the operators.

mod arch;
mod reviewed;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use olm_kit::flags::{CommandLine, Flags};
use olm_lifecycle::csv::stages::{Requirements, Stages};
use olm_resolver::Resolver;
use olm_resolver::constraint::ConstraintKind;
use olm_resolver::source::Dependencies;

use arch::ArchKind;
use reviewed::Reviewed;

#[tokio::main]
async fn main() -> Result<()> {
    let role = std::env::args().nth(1).context("usage: house-olm olm-operator|catalog-operator")?;
    match role.as_str() {
        "olm-operator" => olm_operator::run_with(line(), stages()?).await,
        "catalog-operator" => catalog_operator::run_with(line(), resolver()).await,
        other => bail!("{other} is neither olm-operator nor catalog-operator"),
    }
}

/// The flags behind the role, which stands where the name of the program is elsewhere.
fn line<A: Flags>() -> CommandLine<A> {
    let line = std::env::args_os().skip(1);
    CommandLine::read(line).unwrap_or_else(|error| error.exit())
}

fn stages() -> Result<Stages> {
    Stages::default().before::<Requirements>(&Reviewed).context("OLM looks at no requirements")
}

fn resolver() -> Resolver {
    let own: [Arc<dyn ConstraintKind>; 1] = [Arc::new(ArchKind)];
    Resolver::default().with_source(Dependencies::new(own))
}
