//! The steps of a resolution behind [`Resolver`](crate::Resolver): collect rules, solve, assemble.

mod assemble;
mod collect;
mod isolated;

pub(crate) use assemble::{check_names, resolution};
pub(crate) use collect::{check_catalogs, collect};
pub(crate) use isolated::Isolated;
