//! The command line of `olm-registry`.

mod arguments;
mod run;

pub use arguments::Arguments;
pub use run::run;
