//! One line per step of something slow, so that it is visible what a command is doing.

pub use olm_tools::Progress;
