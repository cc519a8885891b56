//! Faults between a program and the API server.
//!
//! A [`Proxy`] stands before the API server; in it, a tower layer ([`FaultLayer`]) around the real
//! connection makes some requests fail as [`Fault`]s say. It is a process boundary, not a layer
//! inside of the operators: so the programs that ship are tested, with their own connections,
//! time limits and retries, and nothing of the faults is in them.
//!
//! Which request fails depends on a seed, the request, and how often it came before; so a run can be
//! repeated although requests race. An [`Injector`] says when, and counts.
//! A proxy can hold all requests, too, as long as a test says, and count what became of writes.

mod body;
mod dice;
mod hold;
mod injector;
mod layer;
mod proxy;
#[cfg(test)]
mod tests;

pub use hold::HeldWrites;
pub use injector::{Fault, Injector, Plan};
pub use layer::{ApiResponse, FaultLayer};
pub use proxy::Proxy;
