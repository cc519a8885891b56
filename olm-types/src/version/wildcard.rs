//! Wildcards in ranges: `1.x`, `1.2.x`, and what the Go library makes of every other `x`.
//!
//! A part with an `x` anywhere is rewritten, as text, into one or two plain comparisons:
//! `>1.x` becomes `>=2.0.0`, `<=1.2.x` becomes `<1.3.0`, `1.x` becomes `>=1.0.0 <2.0.0`, and
//! `!=1.x` becomes `<1.0.0 >=2.0.0`, which never holds. Where no wildcard is meant (`1.0.0-next`),
//! operators that need the next version have none, and the part becomes unreadable. An unknown
//! operator disappears: `~1.x` is exactly 1.0.0.

use super::RangeError;
use super::range::split_operator;

/// The number that comes before the wildcard and is incremented to reach the end of its block.
#[derive(Clone, Copy)]
enum Block {
    Major,
    Minor,
}

/// Rewrites a part into plain comparisons. A part without `x` stays as it is.
pub(super) fn expand(part: &str) -> Result<Vec<String>, RangeError> {
    if !part.contains('x') {
        return Ok(vec![part.to_owned()]);
    }
    let (sign, version) = split_operator(part)?;
    let first = first_of_block(version);
    let next = || next_block(block(version), &first).unwrap_or_default();
    Ok(match sign {
        ">" => vec![format!(">={}", next())],
        ">=" => vec![format!(">={first}")],
        "<" => vec![format!("<{first}")],
        "<=" => vec![format!("<{}", next())],
        "" | "=" | "==" => vec![format!(">={first}"), format!("<{}", next())],
        "!" | "!=" => vec![format!("<{first}"), format!(">={}", next())],
        _ => vec![first],
    })
}

/// `1.x` spans a major version, `1.2.x` and `1.x.x` a minor one. Anything else spans nothing.
fn block(version: &str) -> Option<Block> {
    let (head, last) = version.rsplit_once('.')?;
    match (last, head.matches('.').count()) {
        ("x", 0) => Some(Block::Major),
        ("x", 1) => Some(Block::Minor),
        _ => None,
    }
}

/// The version with its first `.x` (or `.x.x`) set to 0 and three numbers.
fn first_of_block(version: &str) -> String {
    let flat = version.replacen(".x.x", ".x", 1).replacen(".x", ".0", 1);
    match flat.matches('.').count() {
        1 => format!("{flat}.0"),
        _ => flat,
    }
}

/// The version after the block. Numbers are read as Go's Atoi does: signs and leading zeros pass.
fn next_block(block: Option<Block>, first: &str) -> Option<String> {
    let at = match block? {
        Block::Major => 0,
        Block::Minor => 1,
    };
    let mut numbers: Vec<String> = first.split('.').map(str::to_owned).collect();
    let number = numbers.get_mut(at)?;
    *number = number.parse::<i64>().ok()?.checked_add(1)?.to_string();
    Some(numbers.join("."))
}
