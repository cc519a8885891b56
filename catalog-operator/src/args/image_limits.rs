//! Other bounds on images of catalogs than those that hold in production, for tests: images that exceed those would
//! take gigabytes.

use olm_catalog::image::Limits;

/// A bound by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageLimit {
    name: String,
    value: u64,
}

/// Parses `LIMIT=NUMBER`.
///
/// # Errors
/// There is no such limit, or no number.
pub fn parse_limit(text: &str) -> Result<ImageLimit, String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("there is no = in {text:?}"))?;
    let value = value.parse::<u64>();
    let value = value.map_err(|error| format!("{text:?} names no number: {error}"))?;
    let limit = ImageLimit { name: name.to_owned(), value };
    let mut some = Limits::CATALOG;
    if limit.set(&mut some) { Ok(limit) } else { Err(format!("there is no limit {name:?}")) }
}

/// Bounds on images of catalogs, those of production but for these.
pub fn limits(others: &[ImageLimit]) -> Limits {
    let mut limits = Limits::CATALOG;
    for other in others {
        other.set(&mut limits);
    }
    limits
}

impl ImageLimit {
    /// Sets this bound, if there is one of this name.
    fn set(&self, limits: &mut Limits) -> bool {
        let count = usize::try_from(self.value).unwrap_or(usize::MAX);
        match self.name.as_str() {
            "layers" => limits.layers = count,
            "transferred" => limits.transferred = self.value,
            "unpacked" => limits.unpacked = self.value,
            "ratio" => limits.ratio = self.value,
            "free" => limits.free = self.value,
            "entries" => limits.entries = count,
            "names" => limits.names = self.value,
            "file" => limits.file = self.value,
            "kept" => limits.kept = self.value,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_production_but_for_named_ones() {
        assert_eq!(limits(&[]), Limits::CATALOG);
        let layers = parse_limit("layers=3").unwrap();
        assert_eq!(limits(&[layers]), Limits { layers: 3, ..Limits::CATALOG });
        for wrong in ["layers", "layers=", "layers=-1", "depth=3"] {
            assert!(parse_limit(wrong).is_err(), "{wrong}");
        }
    }
}
