//! The proxy that environment variables name (spec catalog-operator 1.8): `GRPC_PROXY` for registry
//! servers, `HTTPS_PROXY` for registries of images, and `NO_PROXY` for the hosts that are dialled
//! directly, each also in lower case.
//!
//! With a proxy names are resolved by the proxy. `localhost` and loopback addresses are never
//! reached through one.
//!
//! Not hyper-util's `client-proxy`: it knows no ports in `NO_PROXY`, and takes `.example.com` for
//! `example.com`, too, as curl does. Go's clients, and so v0, do otherwise.

use std::io;
use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::address::Address;

/// Longest answer of a proxy to the request for a tunnel, in bytes.
const ANSWER: usize = 8 << 10;

/// Port of a proxy that is named without one.
const PORT: &str = "80";

/// A proxy, and what is dialled without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    url: String,
    direct: Vec<Direct>,
}

/// An element of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Direct {
    Everything,
    /// Addresses whose first bits are those of this one.
    Network(IpAddr, u8),
    /// A domain without leading dot, whether it counts itself, and the only port that counts.
    Domain {
        name: String,
        itself: bool,
        port: Option<String>,
    },
}

/// Where a proxy listens, and what is sent to it about the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxyServer {
    pub(super) address: Address,
    credentials: Option<String>,
}

impl Proxy {
    /// The proxy that variables name, if they do; `variable` looks one up.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Self::of_variables(["GRPC_PROXY", "grpc_proxy"], variable)
    }

    /// The proxy for registries of images that variables name.
    pub fn for_images(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Self::of_variables(["HTTPS_PROXY", "https_proxy"], variable)
    }

    fn of_variables(names: [&str; 2], variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let either = |names: [&str; 2]| {
            names.into_iter().filter_map(&variable).find(|value| !value.is_empty())
        };
        let url = either(names)?;
        let direct = either(["NO_PROXY", "no_proxy"]).unwrap_or_default();
        let direct = direct.split(',').filter_map(Direct::parse).collect();
        Some(Self { url, direct })
    }

    /// The proxy through which an address is reached; none when it is dialled directly.
    ///
    /// # Errors
    /// The variable names no HTTP proxy.
    pub(crate) fn for_address(&self, address: &Address) -> io::Result<Option<ProxyServer>> {
        let host = address.host().trim_end_matches('.').to_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        let local = host.is_empty() || host == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
        if local || self.direct.iter().any(|direct| direct.fits(&host, ip, address.port())) {
            return Ok(None);
        }
        ProxyServer::parse(&self.url).map(Some)
    }
}

impl Direct {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        if text.is_empty() {
            return None;
        }
        if text == "*" {
            return Some(Self::Everything);
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Some(Self::Network(ip, bits(ip)));
        }
        if let Some((ip, length)) = text.split_once('/')
            && let (Ok(ip), Ok(length)) = (ip.parse::<IpAddr>(), length.parse::<u8>())
        {
            return (length <= bits(ip)).then_some(Self::Network(ip, length));
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.to_owned())),
            None => (text.as_str(), None),
        };
        let name = name.strip_prefix('*').unwrap_or(name);
        let itself = !name.starts_with('.');
        Some(Self::Domain { name: name.trim_start_matches('.').to_owned(), itself, port })
    }

    fn fits(&self, host: &str, ip: Option<IpAddr>, asked: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Network(network, length) => {
                ip.is_some_and(|ip| prefix(ip, *length) == prefix(*network, *length))
            }
            Self::Domain { name, itself, port } => {
                let below =
                    host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'));
                (below || *itself && host == name) && port.as_ref().is_none_or(|port| port == asked)
            }
        }
    }
}

fn bits(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// Family and first bits of an address.
fn prefix(ip: IpAddr, length: u8) -> (bool, u128) {
    let (number, bits) = match ip {
        IpAddr::V4(ip) => (u128::from(ip.to_bits()), 32),
        IpAddr::V6(ip) => (ip.to_bits(), 128),
    };
    (ip.is_ipv4(), number.checked_shr(bits - u32::from(length)).unwrap_or_default())
}

impl ProxyServer {
    /// Where it listens.
    #[cfg(feature = "pull")]
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Reads `[http://][user[:password]@]host[:port][/]`.
    fn parse(url: &str) -> io::Result<Self> {
        let invalid = |reason: &str| {
            let message = format!("the proxy {url:?} cannot be used: {reason}");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        };
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(_) => return Err(invalid("only http:// is supported")),
            None => url,
        };
        let authority = rest.split('/').next().unwrap_or_default();
        let (credentials, server) = match authority.rsplit_once('@') {
            Some((credentials, server)) => (Some(STANDARD.encode(credentials)), server),
            None => (None, authority),
        };
        let address = Address::parse(server)
            .or_else(|_| Address::parse(&format!("{server}:{PORT}")))
            .map_err(|error| invalid(&error.to_string()))?;
        if address.host().is_empty() {
            return Err(invalid("it names no host"));
        }
        Ok(Self { address, credentials })
    }

    /// Asks the proxy at the other end of `stream` for a tunnel to `target`.
    pub(crate) async fn tunnel(&self, stream: &mut TcpStream, target: &Address) -> io::Result<()> {
        let credentials = self.credentials.as_ref();
        let credentials = credentials
            .map(|text| format!("Proxy-Authorization: Basic {text}\r\n"))
            .unwrap_or_default();
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{credentials}\r\n");
        stream.write_all(request.as_bytes()).await?;
        let answer = head(stream).await?;
        let status = answer.lines().next().unwrap_or_default();
        if status.split(' ').nth(1).is_some_and(|code| code.starts_with('2')) {
            return Ok(());
        }
        let message = format!("the proxy {} refuses a tunnel to {target}: {status}", self.address);
        Err(io::Error::new(io::ErrorKind::ConnectionRefused, message))
    }
}

/// Everything up to the first empty line; what follows belongs to the tunnel and is not read.
async fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= ANSWER {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the proxy's answer is too long",
            ));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn through(no_proxy: &str, address: &str) -> bool {
        let proxy = Proxy::from_environment(|name| match name {
            "GRPC_PROXY" => Some("http://proxy.example:3128".to_owned()),
            "no_proxy" => Some(no_proxy.to_owned()),
            _ => None,
        });
        let address = Address::parse(address).unwrap();
        proxy.unwrap().for_address(&address).unwrap().is_some()
    }

    #[rstest]
    #[case::nothing("", "foo.com:8080", true)]
    #[case::everything("*", "foo.com:8080", false)]
    #[case::itself("foo.com", "foo.com:8080", false)]
    #[case::below("foo.com", "bar.foo.com:8080", false)]
    #[case::ends_alike("foo.com", "barfoo.com:8080", true)]
    #[case::only_below(".foo.com", "foo.com:8080", true)]
    #[case::star("*.foo.com", "bar.foo.com:8080", false)]
    #[case::port("foo.com:8080", "foo.com:8080", false)]
    #[case::other_port("foo.com:8081", "foo.com:8080", true)]
    #[case::several("a.com, FOO.com", "foo.COM:1", false)]
    #[case::address("10.0.0.1", "10.0.0.1:1", false)]
    #[case::network("10.96.0.0/12", "10.111.1.1:1", false)]
    #[case::outside("10.96.0.0/12", "10.112.1.1:1", true)]
    #[case::version_6("fd00::/8", "[fd12::1]:1", false)]
    #[case::localhost("", "localhost:1", false)]
    #[case::loopback("", "127.0.0.1:1", false)]
    fn exclusions(#[case] no_proxy: &str, #[case] address: &str, #[case] expected: bool) {
        assert_eq!(through(no_proxy, address), expected);
    }

    #[test]
    fn upper_case_comes_first() {
        let upper = |name: &str| Some(format!("{name}.example"));
        assert_eq!(Proxy::from_environment(upper).unwrap().url, "GRPC_PROXY.example");
        let lower = |name: &str| (name == "grpc_proxy").then(|| "lower".to_owned());
        assert_eq!(Proxy::from_environment(lower).unwrap().url, "lower");
        assert_eq!(Proxy::from_environment(|_| None), None);
    }

    #[rstest]
    #[case("http://proxy:3128", Ok("proxy:3128"))]
    #[case("proxy:3128", Ok("proxy:3128"))]
    #[case("http://user:pass@proxy/", Ok("proxy:80"))]
    #[case("http://[fd00::1]:1/x", Ok("[fd00::1]:1"))]
    #[case("https://proxy:1", Err("only http:// is supported"))]
    #[case("socks5://proxy:1", Err("only http:// is supported"))]
    #[case("http://", Err("it names no host"))]
    fn servers(#[case] url: &str, #[case] expected: Result<&str, &str>) {
        match (ProxyServer::parse(url), expected) {
            (Ok(server), Ok(address)) => assert_eq!(server.address.to_string(), address),
            (Err(error), Err(reason)) => assert!(error.to_string().contains(reason), "{error}"),
            (server, _) => panic!("{server:?}"),
        }
    }
}
