//! What the user's documents say, a sentence each.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod seed_003;
