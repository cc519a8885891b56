//! The small programs that OLM's Jobs and Pods run inside images of strangers.
//!
//! | name | runs in | what it does |
//! |---|---|---|
//! | `cp` | our image | puts another program into a volume |
//! | `cpb` | a bundle image | copies the bundle into a volume (spec catalog-operator 5) |
//! | `copy-content` | a catalog image | copies catalog and cache into a volume (spec catalog-operator 1.4) |
//!
//! They are one binary, `olm-copy`, that goes by the name it is called by, and need nothing of the
//! image that they run in: no shell, no library, no file. What a bundle image holds is untrusted;
//! `cpb` refuses links and paths that lead elsewhere, special files, and too much of anything.

mod content;
mod cp;
mod cpb;
mod flags;
mod program;
mod reason;
mod tree;

pub use program::{Program, main};
