//! The command line of `olm-registry`.

mod arguments;
mod cache;
mod catalog_image;
mod graph;
mod list;
mod program;
#[cfg(feature = "pull")]
mod pull;
mod render;
mod run;
mod serve;
mod termination;

pub use arguments::{Arguments, Command};
pub use program::main;
pub use run::run;
#[cfg(feature = "tools")]
pub(crate) use serve::{log, serve_source};
#[cfg(feature = "tools")]
pub(crate) use termination::{DEFAULT as TERMINATION_LOG, write as write_termination_log};
