//! What becomes of resolution while a catalog is away.

use std::str::FromStr;

/// What resolution does about a catalog that cannot be read now (`--unhealthy-catalogs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl FromStr for UnhealthyCatalogs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "block" => Ok(Self::Block),
            "last-good" => Ok(Self::LastGood),
            _ => Err(format!("{text:?} is no policy, expected block or last-good")),
        }
    }
}
