//! Dependency resolution for one namespace: catalogs and Subscriptions in, a set of bundles or an
//! explanation out.
//!
//! A resolution is a pipeline of four parts, each behind a trait:
//! 1. every [`ConstraintSource`] states rules about bundles (a Subscription wants one of these, a
//!    bundle needs one of those, one provider per API, ...) in a [`Problem`];
//! 2. a [`Preference`] orders the candidates of each Subscription and dependency: catalogs,
//!    channels, entries of a channel;
//! 3. a [`Solver`] finds the most preferred set of bundles that keeps every rule;
//! 4. if there is none, an [`Explainer`] turns a minimal set of rules that contradict each other
//!    into an [`Explanation`].
//!
//! [`Resolver::default`] has the rules of OLM v0 (spec catalog-operator 3). The crate is pure: no
//! client, no clock, no randomness. The same input gives the same answer, in any input order.
//!
//! [`Resolver::resolve`] is all or nothing, as v0 is. [`Resolver::outcome`] takes a [`Policy`]: under
//! [`Policy::Isolated`] Subscriptions that cannot influence each other are resolved separately, each
//! refusal with its own explanation, and what is malformed is left out instead of stopping a
//! namespace. Catalogs are seen through [`Universe`](olm_types::bundle::Universe) only, so that they
//! may be in memory, on disk, or made up by a test ([`memory`]).
//!
//! Another crate adds rules without touching this one: a [`constraint::ConstraintKind`] for a
//! property of its own, or a [`ConstraintSource`] such as a list of admitted packages.
//! `examples/custom_constraint.rs` has both. [`cases`] reads whole problems from text, for tests and
//! for bug reports.
//!
//! ```
//! use olm_resolver::memory::MemoryUniverse;
//! use olm_resolver::{ResolutionRequest, Resolver};
//!
//! let universe = MemoryUniverse::default();
//! let request = ResolutionRequest::new("team", &universe);
//! let resolution = Resolver::default().resolve(&request).unwrap();
//! assert!(resolution.chosen.is_empty());
//! ```

pub mod cases;
mod components;
pub mod constraint;
mod error;
pub mod explain;
mod installed;
pub mod memory;
mod outcome;
mod pipeline;
mod policy;
pub mod preference;
pub mod problem;
mod request;
mod resolution;
mod resolver;
pub mod solver;
pub mod source;

pub use error::{CatalogFault, Fault, ResolveError};
pub use explain::{Explainer, Explanation, Fact, Repair};
pub use installed::{Installed, InstalledBundle, InstalledFault};
pub use outcome::{BlockedUpgrade, HeldUpgrade, Refusal, ResolutionOutcome};
pub use policy::{Policy, UnknownPolicy};
pub use preference::Preference;
pub use problem::{BundleRef, Problem};
pub use request::{InstalledCsv, InstalledProperties, ResolutionRequest, SubscriptionFacts};
pub use resolution::{Chosen, Resolution, WantedBy};
pub use resolver::Resolver;
pub use solver::Solver;
pub use source::{ConstraintSource, Scope, follows};
