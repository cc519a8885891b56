//! What the documents for users say about OperatorGroups, a sentence each.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod groups;
