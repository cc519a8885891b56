//! CatalogSources (spec catalog-operator 1): what their spec asks for, what serves them, and what
//! their status says.
//!
//! [`plan`] turns what is known into writes, [`conclude`] turns what came of them into a status.
//! [`registry`] builds the objects that serve a catalog; `polling` looks for newer images. [`hosting`] is
//! about catalogs that the operator serves itself.

mod adoption;
mod content;
mod drift;
pub mod hosting;
mod interval;
mod observed;
mod plan;
mod pod_problem;
mod pods;
mod polling;
mod ready;
pub mod registry;
mod spec;
mod status;
mod template;

pub use interval::is_poll_due;
pub use observed::{ConfigMapFound, Connection, Content, Observed, Present, foreign, include};
pub use plan::{Plan, Step, plan};
pub(crate) use spec::is_healthy;
pub use spec::{Backend, SpecProblem, backend, dial_address};
pub use status::{Conclusion, conclude};
pub use template::has_template;
