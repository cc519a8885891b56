//! Which versions of TLS and which cipher suites servers accept, as flags of Kubernetes' own
//! servers say it: `--tls-min-version` and `--tls-cipher-suites`, with the names of Go's library.
//!
//! Nothing weaker than TLS 1.2 with forward secrecy and authenticated encryption is available. A flag
//! that allows less security is met with more: older versions mean TLS 1.2, and suites that Go knows
//! and we do not have are left out. As in Go, the suites of TLS 1.3 are not a choice.

use std::fmt;
use std::str::FromStr;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion, version};

/// The oldest version of TLS that is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2; also what older versions mean.
    #[default]
    V12,
    /// TLS 1.3.
    V13,
}

/// A cipher suite by the name that Go's library has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CipherSuite(String);

/// What a TLS server accepts; as much as is safe by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsProfile {
    oldest: TlsVersion,
    /// Suites of TLS 1.2; all that are safe when empty.
    suites: Vec<String>,
}

/// What is wrong with the flags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// There is no such version.
    #[error("there is no TLS version {0:?}; use VersionTLS12 or VersionTLS13")]
    Version(String),
    /// There is no such suite.
    #[error("cipher suite {0:?} does not exist; these can be used: {known}", known = usable().join(", "))]
    Suite(String),
    /// With what was allowed no client could connect over TLS 1.2.
    #[error(
        "none of the cipher suites {0} is safe; add one of {known}, or set --tls-min-version=VersionTLS13",
        known = usable().join(", ")
    )]
    NoneLeft(String),
}

/// Suites that Go has and we do not: without forward secrecy, or without authenticated encryption.
const UNSAFE: [&str; 16] = [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
];

/// Names of TLS 1.3's suites, which are accepted and change nothing.
const OF_TLS13: [&str; 3] =
    ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

impl FromStr for TlsVersion {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        match text {
            // Kubernetes' own default is 1.2.
            "" | "VersionTLS10" | "VersionTLS11" | "VersionTLS12" => Ok(Self::V12),
            "VersionTLS13" => Ok(Self::V13),
            _ => Err(ProfileError::Version(text.to_owned())),
        }
    }
}

impl FromStr for CipherSuite {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let name = text.trim();
        // Go's older names of two suites.
        let name = match name {
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305" | "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305" => {
                format!("{name}_SHA256")
            }
            _ => name.to_owned(),
        };
        let known = UNSAFE.contains(&name.as_str())
            || OF_TLS13.contains(&name.as_str())
            || usable().contains(&name);
        if known { Ok(Self(name)) } else { Err(ProfileError::Suite(name)) }
    }
}

impl CipherSuite {
    /// Whether a server may offer it to a client that speaks TLS 1.2.
    pub(super) fn is_for_tls12(&self) -> bool {
        usable().contains(&self.0)
    }
}

/// The suite that OpenSSL, and so OpenShift, calls by this name, if it is a safe one. Those of TLS 1.3
/// have one name everywhere.
pub(super) fn of_openssl(name: &str) -> Option<CipherSuite> {
    let go = match name {
        "ECDHE-ECDSA-AES128-GCM-SHA256" => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-RSA-AES128-GCM-SHA256" => "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384" => "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384" => "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305" => "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-RSA-CHACHA20-POLY1305" => "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        name if OF_TLS13.contains(&name) => name,
        _ => return None,
    };
    Some(CipherSuite(go.to_owned()))
}

impl fmt::Display for CipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TlsProfile {
    /// What two flags say. Suites that are not safe are reported and left out.
    ///
    /// # Errors
    /// When suites were named, none of them is safe, and TLS 1.2 needs one.
    pub fn given(oldest: TlsVersion, suites: &[CipherSuite]) -> Result<Self, ProfileError> {
        let names = |of: &[&str]| -> Vec<&str> {
            let named = suites.iter().map(|suite| suite.0.as_str());
            named.filter(|name| of.contains(name)).collect()
        };
        let left_out = names(&UNSAFE);
        let usable = usable();
        let kept = names(&usable.iter().map(String::as_str).collect::<Vec<_>>());
        if kept.is_empty() && !left_out.is_empty() && oldest == TlsVersion::V12 {
            return Err(ProfileError::NoneLeft(left_out.join(", ")));
        }
        if !left_out.is_empty() {
            tracing::warn!(suites = left_out.join(", "), "these cipher suites are not offered");
        }
        Ok(Self { oldest, suites: kept.into_iter().map(str::to_owned).collect() })
    }

    /// The versions that are spoken.
    pub(super) fn versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        match self.oldest {
            TlsVersion::V12 => vec![&version::TLS13, &version::TLS12],
            TlsVersion::V13 => vec![&version::TLS13],
        }
    }

    /// The process's provider with the suites that are accepted.
    pub(super) fn provider(&self) -> CryptoProvider {
        let mut provider = aws_lc_rs::default_provider();
        if !self.suites.is_empty() {
            provider.cipher_suites.retain(|suite| match of_tls12(suite) {
                Some(name) => self.suites.contains(&name),
                None => true,
            });
        }
        provider
    }
}

/// Names of the suites that can be chosen, best first.
fn usable() -> Vec<String> {
    aws_lc_rs::ALL_CIPHER_SUITES.iter().filter_map(of_tls12).collect()
}

/// The name of a suite of TLS 1.2.
fn of_tls12(suite: &SupportedCipherSuite) -> Option<String> {
    matches!(suite, SupportedCipherSuite::Tls12(_)).then(|| format!("{:?}", suite.suite()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SAFE: &str = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";

    fn profile(oldest: &str, suites: &[&str]) -> Result<TlsProfile, ProfileError> {
        let suites: Result<Vec<CipherSuite>, _> = suites.iter().map(|name| name.parse()).collect();
        TlsProfile::given(oldest.parse()?, &suites?)
    }

    fn offered(profile: &TlsProfile) -> Vec<String> {
        profile.provider().cipher_suites.iter().filter_map(of_tls12).collect()
    }

    #[rstest]
    #[case("", 2)]
    #[case("VersionTLS10", 2)]
    #[case("VersionTLS12", 2)]
    #[case("VersionTLS13", 1)]
    fn versions(#[case] oldest: &str, #[case] spoken: usize) {
        assert_eq!(profile(oldest, &[]).unwrap().versions().len(), spoken);
    }

    #[test]
    fn only_named_suites_are_offered_and_unsafe_ones_are_not() {
        assert_eq!(offered(&TlsProfile::default()), usable());
        let some = profile("", &[SAFE, "TLS_RSA_WITH_AES_128_CBC_SHA"]).unwrap();
        assert_eq!(offered(&some), [SAFE]);
        let older = profile("", &["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"]).unwrap();
        assert_eq!(offered(&older), ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"]);
        let third = profile("", &["TLS_AES_128_GCM_SHA256"]).unwrap();
        assert_eq!(offered(&third), usable());
        assert_eq!(third.provider().cipher_suites.len(), 9);
    }

    #[rstest]
    #[case("VersionTLS14", &[], "there is no TLS version \"VersionTLS14\"; use VersionTLS12 or")]
    #[case("1.2", &[], "there is no TLS version")]
    #[case("", &["TLS_NONE"], "cipher suite \"TLS_NONE\" does not exist; these can be used: TLS_ECDHE")]
    #[case("", &["TLS_RSA_WITH_RC4_128_SHA"], "none of the cipher suites TLS_RSA_WITH_RC4_128_SHA is")]
    fn mistakes_are_reported(#[case] oldest: &str, #[case] suites: &[&str], #[case] start: &str) {
        let error = profile(oldest, suites).unwrap_err().to_string();
        assert!(error.starts_with(start), "{error}");
    }

    #[test]
    fn unsafe_suites_do_not_matter_where_only_the_newest_version_is_spoken() {
        let newest = profile("VersionTLS13", &["TLS_RSA_WITH_RC4_128_SHA"]).unwrap();
        assert_eq!(newest.versions().len(), 1);
    }
}
