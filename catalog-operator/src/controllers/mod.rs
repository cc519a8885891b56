//! One folder per kind of work: `observe` gathers what is known, `reconcile` asks the pure crates
//! what follows, has it carried out and concludes.

pub mod catalog_source;
pub mod cluster_operator;
pub mod install_plan;
pub mod resolution;
pub mod subscription;
