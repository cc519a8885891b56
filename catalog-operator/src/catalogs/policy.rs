//! What becomes of resolution while a catalog is away.

use clap::ValueEnum;

/// What resolution does about a catalog that cannot be read now (`--unhealthy-catalogs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum UnhealthyCatalogs {
    /// A namespace that sees one resolves nothing, as in v0.
    Block,
    /// It goes on with what was read last; only who needs a catalog that was never read waits.
    #[default]
    LastGood,
}

impl UnhealthyCatalogs {
    pub(super) fn blocks(self) -> bool {
        self == Self::Block
    }
}
