//! One line per step of something slow, so that nobody wonders what a command is doing.

pub use olm_tools::Progress;
