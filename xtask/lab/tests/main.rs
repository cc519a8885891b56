//! The developer commands as programs.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod kind;
