//! CatalogSources (spec catalog-operator 1): what their spec asks for and what their status says.

mod spec;
mod status;

pub use spec::{Backend, SpecProblem, backend, is_healthy};
pub use status::{Connection, Observed, decide};
