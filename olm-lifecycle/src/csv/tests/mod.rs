//! CSVs in a simulated cluster: the tables of spec olm-operator 8.

mod bad_input;
mod deletion;
pub(crate) mod fixtures;
mod groups;
mod rights;
mod scenarios;
mod seeds;
mod succession;
mod transitions;
mod updates;
pub(crate) mod world;
