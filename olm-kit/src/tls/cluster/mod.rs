//! The TLS profile of the cluster, on OpenShift: what the APIServer `cluster` says for all servers.
//!
//! Flags win, each for what it says. Where the kind is not served, they are all there is; so they are
//! while the object cannot be read at the start, and later what it said last stays in force.

use std::time::Duration;

use kube::Client;
use serde_json::Value;
use tokio::time::sleep;

use super::SharedProfile;
use super::profile::{self, CipherSuite, ProfileError, TlsProfile, TlsVersion};
use crate::discovery::{ApiKinds, Optional};
use crate::tasks::{Tasks, chain};

/// Group, version and kind of what says it, and the name of the only object that counts.
const API: (&str, &str, &str) = ("config.openshift.io", "v1", "APIServer");
const NAME: &str = "cluster";

/// Pause before it is read again: it is not watched.
const LOOK: Duration = Duration::from_secs(60);

/// What flags say; the cluster says the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFlags {
    /// The oldest version that is spoken.
    pub oldest: Option<TlsVersion>,
    /// Cipher suites; left open when empty.
    pub suites: Vec<CipherSuite>,
}

impl TlsFlags {
    /// What they say where no cluster says anything.
    ///
    /// # Errors
    /// With the suites that were named, no client could connect.
    pub fn profile(&self) -> Result<TlsProfile, ProfileError> {
        TlsProfile::given(self.oldest.unwrap_or_default(), &self.suites)
    }

    fn leave_something_open(&self) -> bool {
        self.oldest.is_none() || self.suites.is_empty()
    }
}

/// What servers accept, followed while the cluster changes it.
///
/// # Errors
/// The flags make no sense.
pub async fn follow(
    flags: TlsFlags,
    client: &Client,
    tasks: &Tasks,
) -> Result<SharedProfile, ProfileError> {
    let shared = SharedProfile::from(flags.profile()?);
    if !flags.leave_something_open() {
        return Ok(shared);
    }
    let kinds = ApiKinds::new(client.clone());
    let mut follower =
        Follower { flags, kinds, shared: shared.clone(), said: None, reported: None };
    if !follower.look().await {
        return Ok(shared);
    }
    let token = tasks.token();
    tasks.spawn("TLS profile of the cluster", async move {
        tokio::select! {
            () = follower.go_on() => {}
            () = token.cancelled() => {}
        }
    });
    Ok(shared)
}

struct Follower {
    flags: TlsFlags,
    kinds: ApiKinds,
    shared: SharedProfile,
    /// What the object said last.
    said: Option<Value>,
    /// The problem that the log has already.
    reported: Option<String>,
}

impl Follower {
    async fn go_on(&mut self) {
        loop {
            sleep(LOOK).await;
            self.look().await;
        }
    }

    /// Reads the object; false where there is no such kind.
    async fn look(&mut self) -> bool {
        let problem = match self.kinds.look_for(API, NAME).await {
            Ok(Optional::NoSuchKind) => return false,
            Ok(Optional::NoSuchObject) => Some(format!("there is no APIServer {NAME}")),
            Ok(Optional::Is(object)) => self.apply(&object).err().map(|error| error.to_string()),
            Err(error) => Some(chain(&error)),
        };
        if let Some(problem) = problem.as_ref().filter(|_| problem != self.reported) {
            tracing::warn!(problem, "the TLS profile of the cluster is not followed");
        }
        self.reported = problem;
        true
    }

    fn apply(&mut self, object: &Value) -> Result<(), ProfileError> {
        let says = object.pointer("/spec/tlsSecurityProfile").cloned().unwrap_or(Value::Null);
        if self.said.as_ref() == Some(&says) {
            return Ok(());
        }
        let profile = merge(&self.flags, &says)?;
        self.said = Some(says);
        if self.shared.set(profile) {
            tracing::info!("servers follow the TLS profile of the cluster");
        }
        Ok(())
    }
}

/// A profile of the cluster beside flags, which win.
fn merge(flags: &TlsFlags, says: &Value) -> Result<TlsProfile, ProfileError> {
    let (oldest, suites) = of_the_cluster(says, flags.suites.is_empty())?;
    let suites = if flags.suites.is_empty() { &suites } else { &flags.suites };
    TlsProfile::given(flags.oldest.unwrap_or(oldest), suites)
}

/// Version and suites by the type of a profile; `Intermediate` is what counts where none is named. What
/// `Old` and `Intermediate` allow beyond all safe suites is not offered.
fn of_the_cluster(
    says: &Value,
    with_suites: bool,
) -> Result<(TlsVersion, Vec<CipherSuite>), ProfileError> {
    match says.get("type").and_then(Value::as_str) {
        Some("Modern") => Ok((TlsVersion::V13, Vec::new())),
        Some("Custom") => custom(says.get("custom").unwrap_or(&Value::Null), with_suites),
        _ => Ok((TlsVersion::V12, Vec::new())),
    }
}

fn custom(says: &Value, with_suites: bool) -> Result<(TlsVersion, Vec<CipherSuite>), ProfileError> {
    let oldest: TlsVersion =
        says.get("minTLSVersion").and_then(Value::as_str).unwrap_or_default().parse()?;
    let named = says.get("ciphers").and_then(Value::as_array).into_iter().flatten();
    let named: Vec<&str> = named.filter_map(Value::as_str).collect();
    if !with_suites || oldest == TlsVersion::V13 || named.is_empty() {
        return Ok((oldest, Vec::new()));
    }
    let suites: Vec<CipherSuite> =
        named.iter().filter_map(|name| profile::of_openssl(name)).collect();
    if suites.iter().any(CipherSuite::is_for_tls12) {
        return Ok((oldest, suites));
    }
    // Nothing is left for older versions.
    if suites.is_empty() {
        return Err(ProfileError::NoneLeft(named.join(", ")));
    }
    Ok((TlsVersion::V13, Vec::new()))
}

#[cfg(test)]
mod tests;
