//! Kubernetes quantities (`100m`, `50Mi`) in the form in which Go writes them back.
//!
//! A quantity whose text is nearly canonical keeps its text, signs and leading zeros included
//! (`+5`, `1.500`); any other is rewritten: the largest suffix that leaves a whole number, three
//! powers of ten apart, or of 1024 for binary suffixes. What is smaller than `1n` is rounded up
//! to it; binary values are capped at 2^63-1 and below 1024 are written with decimal suffixes.

use thiserror::Error;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// It is not a number followed by a known suffix.
    #[error(
        "{0:?} is not a quantity: write a number with a suffix of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3"
    )]
    Syntax(String),
    /// It has more digits than are supported.
    #[error(
        "quantity {0:?} has too many digits: at most 36, and 18 after the point with a binary suffix"
    )]
    TooLong(String),
}

/// Decimal exponents of the suffixes.
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
/// Suffixes of the powers of 1024, from the first.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// Smallest decimal exponent that a quantity holds.
const NANO: i32 = -9;
/// Digits that Go handles as a 64-bit number; longer texts are always rewritten.
const FAST_DIGITS: usize = 18;
const MAX_DIGITS: usize = 36;
const MAX_BINARY_DECIMALS: usize = 18;
/// Larger exponents than any real quantity has.
const MAX_EXPONENT: i32 = 1_000;

/// The text that Go's encoder writes for a quantity that it read from `text`.
///
/// As in Go, a number without any digit is 0 (`Ki`); Go refuses some of these.
///
/// # Errors
/// When the text is no quantity or has too many digits.
pub fn canonical_quantity(text: &str) -> Result<String, QuantityError> {
    let parsed = Parsed::new(text)?;
    let digits = parsed.digits();
    let number = match digits.len() {
        0..=MAX_DIGITS => digits.parse().map_err(|_| QuantityError::TooLong(text.to_owned()))?,
        _ => return Err(QuantityError::TooLong(text.to_owned())),
    };
    if number == 0 {
        return Ok("0".to_owned());
    }
    if parsed.keeps_text(&digits, number) {
        return Ok(text.to_owned());
    }
    let canonical = match parsed.suffix {
        Suffix::Decimal(exponent) => decimal(number, exponent - parsed.scale(), Style::Letter),
        Suffix::Exponent(exponent) => decimal(number, exponent - parsed.scale(), Style::Exponent),
        Suffix::Binary(power) => binary(number, parsed.decimals.len(), power),
    };
    let sign = if parsed.negative { "-" } else { "" };
    canonical
        .map(|canonical| format!("{sign}{canonical}"))
        .ok_or_else(|| QuantityError::TooLong(text.to_owned()))
}

/// A quantity's text, taken apart.
struct Parsed<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros; `0` when none are left.
    whole: &'a str,
    /// Digits after the point.
    decimals: &'a str,
    suffix: Suffix,
}

#[derive(Clone, Copy)]
enum Suffix {
    /// A letter that stands for this power of ten.
    Decimal(i32),
    /// `e` and this power of ten.
    Exponent(i32),
    /// This power of 1024.
    Binary(u32),
}

#[derive(Clone, Copy)]
enum Style {
    Letter,
    Exponent,
}

impl<'a> Parsed<'a> {
    fn new(text: &'a str) -> Result<Self, QuantityError> {
        let syntax = || QuantityError::Syntax(text.to_owned());
        if text.is_empty() {
            return Err(syntax());
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, rest) = split_digits(unsigned.trim_start_matches('0'));
        let (decimals, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest),
            None => ("", rest),
        };
        Ok(Self {
            negative: text.starts_with('-'),
            whole: if whole.is_empty() { "0" } else { whole },
            decimals,
            suffix: Suffix::parse(suffix).ok_or_else(syntax)?,
        })
    }

    fn digits(&self) -> String {
        format!("{}{}", self.whole, self.decimals)
    }

    fn scale(&self) -> i32 {
        i32::try_from(self.decimals.len()).unwrap_or(i32::MAX)
    }

    /// Go keeps the text of a number that is short and, at a glance, canonical.
    fn keeps_text(&self, digits: &str, number: u128) -> bool {
        match self.suffix {
            Suffix::Binary(power) => {
                let budget = 14_usize.saturating_sub(3 * power as usize);
                self.decimals.is_empty() && self.whole.len() <= budget && !number.is_multiple_of(8)
            }
            Suffix::Decimal(exponent) | Suffix::Exponent(exponent) => {
                let scale = exponent - self.scale();
                digits.len() <= FAST_DIGITS
                    && scale >= NANO
                    && scale % 3 == 0
                    && !digits.ends_with("000")
                    && !digits.starts_with('0')
            }
        }
    }
}

impl Suffix {
    fn parse(text: &str) -> Option<Self> {
        if let Some((_, exponent)) = DECIMAL.iter().find(|(suffix, _)| *suffix == text) {
            return Some(Self::Decimal(*exponent));
        }
        if let Some(index) = BINARY.iter().position(|suffix| *suffix == text) {
            return u32::try_from(index + 1).ok().map(Self::Binary);
        }
        let exponent: i32 = text.strip_prefix(['e', 'E'])?.parse().ok()?;
        (exponent.abs() <= MAX_EXPONENT).then_some(Self::Exponent(exponent))
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// `number * 10^exponent`, rounded up to nanos, with the largest exponent divisible by three.
fn decimal(mut number: u128, mut exponent: i32, style: Style) -> Option<String> {
    let mut lost = false;
    while exponent < NANO {
        lost |= !number.is_multiple_of(10);
        number /= 10;
        exponent += 1;
    }
    number += u128::from(lost);
    while number != 0 && number.is_multiple_of(10) {
        number /= 10;
        exponent += 1;
    }
    let shift = u32::try_from(exponent.rem_euclid(3)).ok()?;
    number = number.checked_mul(10_u128.pow(shift))?;
    exponent -= exponent.rem_euclid(3);
    Some(match style {
        Style::Exponent if exponent != 0 => format!("{number}e{exponent}"),
        Style::Exponent => number.to_string(),
        Style::Letter => format!("{number}{}", letter(exponent)),
    })
}

/// Above `E` there is no letter, and Go writes none: the value is lost, as in Kubernetes.
fn letter(exponent: i32) -> &'static str {
    DECIMAL.iter().find(|(_, known)| *known == exponent).map_or("", |(suffix, _)| suffix)
}

/// `number * 10^-decimals * 1024^power`.
fn binary(number: u128, decimals: usize, power: u32) -> Option<String> {
    if decimals > MAX_BINARY_DECIMALS {
        return None;
    }
    let unit = 10_u128.pow(u32::try_from(decimals).ok()?);
    let factor = 1024_u128.pow(power);
    let fraction = (number % unit) * factor;
    let nanos = ((fraction % unit) * 1_000_000_000).div_ceil(unit);
    let whole = (number / unit).saturating_mul(factor).saturating_add(fraction / unit);
    let cap = u128::from(i64::MAX.unsigned_abs());
    if whole >= cap {
        return Some(cap.to_string());
    }
    if nanos != 0 || whole < 1024 {
        return decimal(whole * 1_000_000_000 + nanos, NANO, Style::Letter);
    }
    Some(powers_of_1024(whole))
}

fn powers_of_1024(mut number: u128) -> String {
    let mut suffix = "";
    for next in BINARY {
        if !number.is_multiple_of(1024) {
            break;
        }
        number /= 1024;
        suffix = next;
    }
    format!("{number}{suffix}")
}
