//! Formats of strings, as API servers check them.
//!
//! A name is compared without its dashes. `isbn` and `creditcard` are not checked: no custom
//! resource was ever seen to use them.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A format that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    BsonObjectId,
    Byte,
    Cidr,
    Date,
    DateTime,
    Duration,
    Email,
    HexColor,
    Hostname,
    Ipv4,
    Ipv6,
    Mac,
    Uri,
    /// Any version, or one of 3, 4 and 5.
    Uuid(Option<char>),
    /// One that says something about a string and is not checked.
    Anything,
}

impl Format {
    /// The format of that name; nothing when API servers ignore the name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name.replace('-', "").as_str() {
            "bsonobjectid" => Self::BsonObjectId,
            "byte" => Self::Byte,
            "cidr" => Self::Cidr,
            "date" => Self::Date,
            "datetime" => Self::DateTime,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "hexcolor" => Self::HexColor,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "mac" => Self::Mac,
            "uri" => Self::Uri,
            "uuid" => Self::Uuid(None),
            "uuid3" => Self::Uuid(Some('3')),
            "uuid4" => Self::Uuid(Some('4')),
            "uuid5" => Self::Uuid(Some('5')),
            "password" | "isbn" | "isbn10" | "isbn13" | "creditcard" | "ssn" | "rgbcolor" => {
                Self::Anything
            }
            _ => return None,
        })
    }

    /// Whether the text has this format.
    pub(super) fn matches(self, text: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::BsonObjectId => text.len() == 24 && is_hex(text),
            Self::Byte => is_base64(text),
            Self::Cidr => is_cidr(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
            Self::Duration => is_duration(text),
            Self::Email => is_email(text),
            Self::HexColor => {
                let digits = text.strip_prefix('#').unwrap_or(text);
                matches!(digits.len(), 3 | 6) && is_hex(digits)
            }
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => sloppy_ipv4(text).is_some(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Mac => is_mac(text),
            Self::Uri => is_request_uri(text),
            Self::Uuid(version) => is_uuid(text, version),
        }
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(plain)
}

/// Leading zeros are allowed.
fn sloppy_ipv4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u8> = text
        .split('.')
        .map(|part| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit())))
        .collect::<Option<_>>()?;
    <[u8; 4]>::try_from(parts).ok().map(Ipv4Addr::from)
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let most = match (sloppy_ipv4(address), address.parse::<Ipv6Addr>()) {
        (Some(_), _) => 32,
        (None, Ok(_)) => 128,
        (None, Err(_)) => return false,
    };
    bits.bytes().all(|byte| byte.is_ascii_digit())
        && bits.parse().is_ok_and(|bits: u16| bits <= most)
}

fn is_mac(text: &str) -> bool {
    let (groups, digits) = if text.contains('.') {
        (text.split('.').collect::<Vec<_>>(), 4)
    } else {
        (text.split(['-', ':']).collect(), 2)
    };
    let one_separator = !(text.contains('-') && text.contains(':'));
    let bytes = groups.len() * digits / 2;
    one_separator
        && matches!(bytes, 6 | 8 | 20)
        && groups.iter().all(|group| group.len() == digits && is_hex(group))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

/// `<date>T<time>` with a zone; hours, minutes and seconds in their ranges.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let two = |range: std::ops::Range<usize>, most: u8| {
        let part = time.get(range).unwrap_or_default();
        part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|part: u8| part <= most)
    };
    let separated = time.get(2..3) == Some(":") && time.get(5..6) == Some(":");
    let rest = time.get(8..).unwrap_or_default();
    is_date(date) && separated && two(0..2, 23) && two(3..5, 59) && two(6..8, 59) && is_zone(rest)
}

/// A fraction, if any, then `Z` or an offset.
fn is_zone(rest: &str) -> bool {
    let fraction = rest
        .strip_prefix('.')
        .map_or(rest, |digits| digits.trim_start_matches(|c: char| c.is_ascii_digit()));
    let offset = |text: &str| {
        let Some((hours, minutes)) = text.split_once(':') else { return false };
        let two = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        two(hours) && two(minutes)
    };
    fraction.eq_ignore_ascii_case("z") || fraction.strip_prefix(['+', '-']).is_some_and(offset)
}

/// Numbers with units, as in `1h30m` or `22 ns`.
fn is_duration(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return true;
    }
    let mut rest = unsigned;
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let unit = number.trim_start();
        let after = unit.trim_start_matches(|c: char| c.is_alphabetic());
        let name = unit.get(..unit.len() - after.len()).unwrap_or_default();
        if number.len() == rest.len() || !is_unit(name) {
            return false;
        }
        rest = after.trim_start();
    }
    !unsigned.is_empty()
}

fn is_unit(name: &str) -> bool {
    let short = ["ns", "us", "µs", "ms", "s", "m", "h", "d", "w", "hr", "wk"];
    let long = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    short.contains(&name) || long.iter().any(|unit| name.starts_with(unit))
}

fn is_email(text: &str) -> bool {
    let address = match text.trim_end().strip_suffix('>') {
        Some(rest) => rest.rsplit_once('<').map(|(_, address)| address).unwrap_or_default(),
        None => text,
    };
    let plain = |c: char| !c.is_whitespace() && !"()<>[]:;@\\,\"".contains(c);
    let dotted =
        |part: &str| part.split('.').all(|label| !label.is_empty() && label.chars().all(plain));
    address.rsplit_once('@').is_some_and(|(local, domain)| dotted(local) && dotted(domain))
}

/// One label, or several of which the last has letters only and is at least two long.
fn is_hostname(text: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric();
    let inner = |c: char| letter(c) || c == '-';
    let labels: Vec<_> = text.split('.').collect();
    let sound = |label: &&str| {
        (1..=63).contains(&label.len())
            && label.chars().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let top = labels.last().copied().unwrap_or_default();
    let named = labels.len() == 1 || (top.len() >= 2 && top.chars().all(char::is_alphabetic));
    text.len() <= 255 && labels.iter().all(sound) && named
}

/// An absolute path, or a scheme and what follows it.
fn is_request_uri(text: &str) -> bool {
    let clean = !text.chars().any(|c| c.is_control() || c == ' ');
    let scheme = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let absolute = text.starts_with('/');
    clean
        && (absolute
            || text.split_once(':').is_some_and(|(name, rest)| scheme(name) && !rest.is_empty()))
}

/// Dashes may be left out.
fn is_uuid(text: &str, version: Option<char>) -> bool {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let places: Vec<_> = text.match_indices('-').map(|(place, _)| place).collect();
    let dashes_fit =
        places.iter().enumerate().all(|(before, place)| matches!(place - before, 8 | 12 | 16 | 20));
    let at = |place: usize| digits.chars().nth(place).map(|c| c.to_ascii_lowercase());
    let variant = matches!(at(16), Some('8' | '9' | 'a' | 'b'));
    let versioned =
        version.is_none_or(|version| at(12) == Some(version) && (version == '3' || variant));
    digits.len() == 32 && is_hex(&digits) && dashes_fit && versioned
}
