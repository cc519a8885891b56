//! A quantity of memory as Go's runtime wants it: `GOMEMLIMIT` takes `5MiB`, Kubernetes `5Mi`.

use olm_types::hash::{QuantityError, canonical_quantity};

/// Decimal suffixes with their power of a thousand.
const DECIMAL: [(&str, u32); 6] = [("k", 1), ("M", 2), ("G", 3), ("T", 4), ("P", 5), ("E", 6)];
/// Powers of 1024, from the first.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The value of `GOMEMLIMIT` for a quantity: its largest binary unit that leaves a whole number.
/// What is less than a byte keeps its text, as in v0.
///
/// # Errors
/// The text is no quantity.
pub(super) fn go_limit(quantity: &str) -> Result<String, QuantityError> {
    let canonical = canonical_quantity(quantity)?;
    let text = bytes(&canonical).map_or(canonical, binary);
    Ok(format!("{text}B"))
}

/// The whole bytes of a quantity; nothing for what is less than one, or more than can be counted.
///
/// # Errors
/// The text is no quantity.
pub fn whole_bytes(quantity: &str) -> Result<Option<u64>, QuantityError> {
    Ok(bytes(&canonical_quantity(quantity)?).and_then(|bytes| u64::try_from(bytes).ok()))
}

/// Whole bytes of a quantity in canonical form.
fn bytes(canonical: &str) -> Option<u128> {
    let end = canonical.find(|c: char| !c.is_ascii_digit()).unwrap_or(canonical.len());
    let (number, suffix) = canonical.split_at(end);
    let number: u128 = number.parse().ok()?;
    number.checked_mul(unit(suffix)?)
}

/// The bytes that a suffix stands for.
fn unit(suffix: &str) -> Option<u128> {
    let binary = (1..).zip(BINARY).find(|(_, known)| *known == suffix);
    let decimal = DECIMAL.iter().find(|(known, _)| *known == suffix);
    match (binary, decimal, suffix.strip_prefix('e')) {
        (Some((power, _)), ..) => 1024_u128.checked_pow(power),
        (_, Some((_, power)), _) => 1000_u128.checked_pow(*power),
        (.., Some(exponent)) => 10_u128.checked_pow(exponent.parse().ok()?),
        _ => suffix.is_empty().then_some(1),
    }
}

fn binary(mut number: u128) -> String {
    let mut suffix = "";
    for unit in BINARY {
        if number == 0 || !number.is_multiple_of(1024) {
            break;
        }
        number /= 1024;
        suffix = unit;
    }
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("5Mi", "5MiB")]
    #[case("1.5Gi", "1536MiB")]
    #[case("50M", "50000000B")]
    #[case("1024k", "1000KiB")]
    #[case("2097152", "2MiB")]
    #[case("1e3", "1000B")]
    #[case("0", "0B")]
    #[case("100m", "100mB")]
    fn limits(#[case] quantity: &str, #[case] limit: &str) {
        assert_eq!(go_limit(quantity), Ok(limit.to_owned()));
    }

    #[test]
    fn no_quantity() {
        assert!(go_limit("much").is_err());
    }
}
