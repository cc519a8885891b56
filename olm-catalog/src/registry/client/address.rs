//! `host:port` of a registry server, split as Go's `net.SplitHostPort` does it
//! (spec catalog-operator 1.8).

use std::fmt::Debug;
use std::net::SocketAddr;
use std::{fmt, io};

use async_trait::async_trait;
use thiserror::Error;

/// Where a registry server listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    host: String,
    port: String,
}

/// A text that is not `host:port`. The messages are those of Go.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    /// No colon after the host.
    #[error("address {0}: missing port in address")]
    MissingPort(String),
    /// An IPv6 address without brackets, usually.
    #[error("address {0}: too many colons in address")]
    TooManyColons(String),
    /// `[` is not closed.
    #[error("address {0}: missing ']' in address")]
    MissingBracket(String),
    /// `[` at a place where it makes no sense.
    #[error("address {0}: unexpected '[' in address")]
    UnexpectedOpening(String),
    /// `]` at a place where it makes no sense.
    #[error("address {0}: unexpected ']' in address")]
    UnexpectedClosing(String),
    /// Nothing at all.
    #[error("missing port in address")]
    Empty,
}

impl Address {
    /// Splits `host:port` or `[host]:port`.
    ///
    /// # Errors
    /// The text has no such form.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Err(AddressError::Empty);
        }
        let (before, port) =
            text.rsplit_once(':').ok_or_else(|| AddressError::MissingPort(text.to_owned()))?;
        let (host, tail) = match text.strip_prefix('[') {
            Some(inner) => bracketed(text, inner)?,
            None => (before, text),
        };
        if !text.starts_with('[') && host.contains(':') {
            return Err(AddressError::TooManyColons(text.to_owned()));
        }
        let opening_from = usize::from(text.starts_with('['));
        if text.get(opening_from..).is_some_and(|rest| rest.contains('[')) {
            return Err(AddressError::UnexpectedOpening(text.to_owned()));
        }
        if tail.contains(']') {
            return Err(AddressError::UnexpectedClosing(text.to_owned()));
        }
        Ok(Self { host: host.to_owned(), port: port.to_owned() })
    }

    /// Host name or IP address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port, as it was written.
    pub fn port(&self) -> &str {
        &self.port
    }
}

impl fmt::Display for Address {
    /// `host:port`, with brackets around IPv6 addresses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Host between the brackets, and what follows the closing one.
fn bracketed<'a>(text: &str, inner: &'a str) -> Result<(&'a str, &'a str), AddressError> {
    let (host, tail) =
        inner.split_once(']').ok_or_else(|| AddressError::MissingBracket(text.to_owned()))?;
    match tail.strip_prefix(':') {
        Some(port) if !port.contains(':') => Ok((host, tail)),
        Some(_) => Err(AddressError::TooManyColons(text.to_owned())),
        None => Err(AddressError::MissingPort(text.to_owned())),
    }
}

/// Resolves hosts. A controller outside the cluster, where no cluster DNS answers, resolves names
/// of Services itself.
#[async_trait]
pub trait Resolve: Debug + Send + Sync {
    /// Addresses in the order in which they should be tried.
    ///
    /// # Errors
    /// The name is unknown or cannot be asked for.
    async fn resolve(&self, address: &Address) -> io::Result<Vec<SocketAddr>>;
}

/// Asks the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, address: &Address) -> io::Result<Vec<SocketAddr>> {
        let port: u16 = address.port().parse().map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("port {:?} is not a number from 0 to 65535", address.port()),
            )
        })?;
        let host = if address.host().is_empty() { "localhost" } else { address.host() };
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("catalog.olm.svc:50051", "catalog.olm.svc", "50051")]
    #[case("127.0.0.1:1", "127.0.0.1", "1")]
    #[case("[::1]:80", "::1", "80")]
    #[case(":50051", "", "50051")]
    #[case("host:", "host", "")]
    #[case("host:grpc", "host", "grpc")]
    fn good(#[case] text: &str, #[case] host: &str, #[case] port: &str) {
        let address = Address::parse(text).unwrap();
        assert_eq!((address.host(), address.port()), (host, port));
        assert_eq!(address.to_string(), text);
    }

    #[rstest]
    #[case("", "missing port in address")]
    #[case("host", "address host: missing port in address")]
    #[case("[::1]", "address [::1]: missing port in address")]
    #[case("[::1]50051", "address [::1]50051: missing port in address")]
    #[case("[::1]x:50051", "address [::1]x:50051: missing port in address")]
    #[case("::1:50051", "address ::1:50051: too many colons in address")]
    #[case("[::1]:1:2", "address [::1]:1:2: too many colons in address")]
    #[case("http://host:1", "address http://host:1: too many colons in address")]
    #[case("[::1:50051", "address [::1:50051: missing ']' in address")]
    #[case("a[b:1", "address a[b:1: unexpected '[' in address")]
    #[case("[[::1]:1", "address [[::1]:1: unexpected '[' in address")]
    #[case("a]b:1", "address a]b:1: unexpected ']' in address")]
    fn bad(#[case] text: &str, #[case] message: &str) {
        assert_eq!(Address::parse(text).unwrap_err().to_string(), message);
    }
}
