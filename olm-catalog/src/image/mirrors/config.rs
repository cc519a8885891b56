//! `registries.conf` of the second version (containers-registries.conf(5)).

use serde::Deserialize;
use thiserror::Error;

use super::openshift::PullBy;
use super::{Mirror, Mirrors, Rule};

/// A file that is no `registries.conf`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// It is no TOML of the right shape.
    #[error("it is no registries.conf of version 2: {0}")]
    Syntax(String),
    /// A rule says neither prefix nor location.
    #[error("[[registry]] number {0} has neither prefix nor location")]
    NoPrefix(usize),
    /// A rule of the first version.
    #[error(
        "it is a registries.conf of version 1, of which [registries.{0}] is no longer supported"
    )]
    Version1(&'static str),
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    registry: Vec<Registry>,
    /// What version 1 has.
    registries: Option<toml::Table>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Registry {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    location: String,
    #[serde(default)]
    insecure: bool,
    #[serde(default)]
    blocked: bool,
    #[serde(default)]
    mirror_by_digest_only: bool,
    #[serde(default)]
    mirror: Vec<MirrorEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct MirrorEntry {
    location: String,
    #[serde(default)]
    insecure: bool,
    #[serde(default)]
    pull_from_mirror: Option<From>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum From {
    All,
    DigestOnly,
    TagOnly,
}

impl Mirrors {
    /// Reads the text of a file. What it says beside rules about registries has no meaning here.
    ///
    /// # Errors
    /// It is no such file.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let file: File =
            toml::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        let first = file.registries.iter().flat_map(toml::Table::keys);
        for key in first {
            let known = ["search", "insecure", "block"].into_iter().find(|known| known == key);
            if let Some(known) = known {
                return Err(ConfigError::Version1(known));
            }
        }
        let rules = (1..).zip(file.registry).map(|(number, registry)| registry.rule(number));
        Ok(Self(rules.collect::<Result<_, _>>()?))
    }
}

impl Registry {
    fn rule(self, number: usize) -> Result<Rule, ConfigError> {
        let (prefix, location) = match (self.prefix.is_empty(), self.location.is_empty()) {
            (true, true) => return Err(ConfigError::NoPrefix(number)),
            (true, false) => (self.location.clone(), self.location),
            (false, true) if self.prefix.starts_with("*.") => (self.prefix, String::new()),
            (false, true) => (self.prefix.clone(), self.prefix),
            (false, false) => (self.prefix, self.location),
        };
        let digests = self.mirror_by_digest_only;
        let mirrors = self.mirror.into_iter().map(|mirror| Mirror {
            by: match mirror.pull_from_mirror {
                Some(From::DigestOnly) => PullBy::Digest,
                Some(From::TagOnly) => PullBy::Tag,
                None if digests => PullBy::Digest,
                Some(From::All) | None => PullBy::Any,
            },
            location: mirror.location,
            without_tls: mirror.insecure,
        });
        let mirrors = mirrors.collect();
        let (without_tls, blocked) = (self.insecure, self.blocked);
        Ok(Rule { prefix, location, without_tls, blocked, mirrors })
    }
}
