//! References to images: `REGISTRY/NAME:TAG`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The longest tag that registries accept.
const LONGEST_TAG: usize = 128;

/// The longest name, registry included, that registries accept.
const LONGEST_NAME: usize = 255;

/// A place for an image in a registry. Unlike what container engines take, every part is
/// explicit: there is no default registry and no default tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: String,
}

/// Why a text is no reference.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a reference like 127.0.0.1:5000/olm-rs:0.1.0: {problem}")]
pub struct ReferenceError {
    text: String,
    problem: &'static str,
}

impl Reference {
    /// Puts a reference together.
    ///
    /// # Errors
    ///
    /// When a part is not as registries want it.
    pub fn new(registry: &str, repository: &str, tag: &str) -> Result<Self, ReferenceError> {
        let problem = match () {
            () if !is_registry(registry) => "the registry must be HOST, HOST:PORT or [IPV6]:PORT",
            () if !is_repository(repository) => {
                "the name may have lower-case letters, digits, single '.', '_' or '-' between \
                 them, and '/'"
            }
            () if registry.len() + repository.len() >= LONGEST_NAME => "the name is too long",
            () if !is_tag(tag) => {
                "the tag may have up to 128 letters, digits, '_', '.' and '-', and starts with \
                 none of the last two"
            }
            () => {
                let [registry, repository, tag] = [registry, repository, tag].map(str::to_owned);
                return Ok(Self { registry, repository, tag });
            }
        };
        Err(ReferenceError { text: format!("{registry}/{repository}:{tag}"), problem })
    }

    /// `HOST[:PORT]`.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The name of the image in the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.registry, self.repository, self.tag)
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let error = |problem| ReferenceError { text: text.to_owned(), problem };
        if text.contains('@') {
            return Err(error("a digest cannot be chosen; name a tag"));
        }
        let (registry, rest) = text.split_once('/').ok_or_else(|| error("no registry is named"))?;
        let (repository, tag) = rest.rsplit_once(':').ok_or_else(|| error("no tag is named"))?;
        Self::new(registry, repository, tag).map_err(|found| error(found.problem))
    }
}

/// Without a dot, a port or the name `localhost`, engines take the first part for a name on
/// their default registry.
fn is_registry(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let known = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => is_host_name(host),
    };
    let port_is_valid = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let explicit = port.is_some() || address.is_some() || host.contains('.') || host == "localhost";
    known && port_is_valid && explicit
}

fn is_host_name(host: &str) -> bool {
    host.split('.').all(|label| {
        let inner = label.trim_matches('-') == label && !label.is_empty();
        inner && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

fn is_repository(text: &str) -> bool {
    text.split('/').all(is_component)
}

/// Runs of lower-case letters and digits, separated by `.`, `_`, `__` or any number of `-`.
fn is_component(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators = text.split(is_plain).filter(|separator| !separator.is_empty());
    let separated = |s: &str| matches!(s, "." | "_" | "__") || s.chars().all(|c| c == '-');
    text.starts_with(is_plain) && text.ends_with(is_plain) && separators.into_iter().all(separated)
}

fn is_tag(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    starts && text.len() <= LONGEST_TAG && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("127.0.0.1:5000/olm-rs:0.1.0", "127.0.0.1:5000", "olm-rs", "0.1.0")]
    #[case("localhost/olm-rs:dev", "localhost", "olm-rs", "dev")]
    #[case("localhost:5001/team/olm:latest", "localhost:5001", "team/olm", "latest")]
    #[case("[::1]:5000/a__b/c--d/e.f:_x", "[::1]:5000", "a__b/c--d/e.f", "_x")]
    #[case(
        "registry.example.com/a/b/c:v1.2.3-rc.1",
        "registry.example.com",
        "a/b/c",
        "v1.2.3-rc.1"
    )]
    fn a_reference_has_three_parts(
        #[case] text: &str,
        #[case] registry: &str,
        #[case] repository: &str,
        #[case] tag: &str,
    ) {
        let reference: Reference = text.parse().unwrap();
        let parts = (reference.registry(), reference.repository(), reference.tag());
        assert_eq!(parts, (registry, repository, tag));
        assert_eq!(reference.to_string(), text);
    }

    #[rstest]
    #[case::nothing("", "no registry is named")]
    #[case::name_only("olm-rs:0.1.0", "no registry is named")]
    #[case::no_tag("127.0.0.1:5000/olm-rs", "no tag is named")]
    #[case::empty_tag("127.0.0.1:5000/olm-rs:", "the tag may have")]
    #[case::tag_starts_with_a_dot("127.0.0.1:5000/olm-rs:.1", "the tag may have")]
    #[case::digest("127.0.0.1:5000/olm-rs@sha256:00", "a digest cannot be chosen")]
    #[case::default_registry("library/olm-rs:1", "the registry must be")]
    #[case::port_too_high("127.0.0.1:70000/olm-rs:1", "the registry must be")]
    #[case::no_host(":5000/olm-rs:1", "the registry must be")]
    #[case::url("http://127.0.0.1:5000/olm-rs:1", "the registry must be")]
    #[case::not_an_address("[::g]:5000/olm-rs:1", "the registry must be")]
    #[case::upper_case("127.0.0.1:5000/OLM:1", "the name may have")]
    #[case::empty_component("127.0.0.1:5000/a//b:1", "the name may have")]
    #[case::separator_at_the_end("127.0.0.1:5000/olm-:1", "the name may have")]
    #[case::two_dots("127.0.0.1:5000/a..b:1", "the name may have")]
    #[case::climbs("127.0.0.1:5000/../b:1", "the name may have")]
    #[case::not_ascii("127.0.0.1:5000/ölm:1", "the name may have")]
    fn a_wrong_reference_says_what_is_wrong(#[case] text: &str, #[case] problem: &str) {
        let error = text.parse::<Reference>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{text:?} is not a reference like")), "{error}");
        assert!(error.contains(problem), "{error}");
    }

    #[test]
    fn lengths_are_limited() {
        let long = "a".repeat(LONGEST_NAME);
        assert!(Reference::new("localhost:5000", &long, "1").is_err());
        assert!(Reference::new("localhost:5000", "a", &"t".repeat(128)).is_ok());
        assert!(Reference::new("localhost:5000", "a", &"t".repeat(129)).is_err());
    }
}
