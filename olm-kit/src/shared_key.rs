//! A key that several processes of an installation share: random bytes in a Secret.

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_lc_rs::rand;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Error};
use tokio::sync::OnceCell;

use crate::leader::Leadership;

/// Field of the Secret.
const FIELD: &str = "key";

/// Bytes of a new key, and the fewest that count as one.
const BYTES: usize = 32;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum SharedKeyError {
    /// The system has no randomness.
    #[error("cannot generate a key: no randomness")]
    Randomness,
    /// The Secret can neither be read nor created.
    #[error("cannot read or create Secret {namespace}/{name}")]
    Refused {
        /// Namespace of the Secret.
        namespace: String,
        /// Name of the Secret.
        name: String,
        /// The API server's answer.
        #[source]
        cause: Box<Error>,
    },
    /// The Secret holds something else.
    #[error(
        "Secret {namespace}/{name} holds no key of {BYTES} bytes in its field {FIELD}; delete it, and a new one is made"
    )]
    Malformed {
        /// Namespace of the Secret.
        namespace: String,
        /// Name of the Secret.
        name: String,
    },
}

/// The key in a Secret. Only a process that acts makes it; whoever comes first does. Clones share what
/// was read.
#[derive(Clone)]
pub struct SharedKey {
    secrets: Api<Secret>,
    namespace: String,
    name: String,
    key: Arc<OnceCell<Vec<u8>>>,
}

impl SharedKey {
    /// That of this Secret; reads nothing yet. `client` decides whether this process may write.
    pub fn new(client: &Client, namespace: &str, name: &str) -> Self {
        Self {
            secrets: Api::namespaced(client.clone(), namespace),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            key: Arc::default(),
        }
    }

    /// That of this Secret for a process that starts, if it needs one: what is there already is read, and
    /// a process without rivals makes it.
    ///
    /// # Errors
    /// As [`Self::look`].
    pub async fn if_needed(
        is_needed: bool,
        client: &Client,
        (namespace, name): (&str, &str),
        leadership: &Leadership,
    ) -> Result<Option<Self>, SharedKeyError> {
        if !is_needed {
            return Ok(None);
        }
        let key = Self::new(client, namespace, name);
        key.look(leadership).await?;
        Ok(Some(key))
    }

    /// Looks for the key when a process starts, so that a Secret that holds none is reported then. A
    /// process without rivals makes it.
    ///
    /// # Errors
    /// The Secret is unreadable, or holds no key.
    pub async fn look(&self, leadership: &Leadership) -> Result<(), SharedKeyError> {
        if leadership.may_write() {
            return self.get().await.map(drop);
        }
        if let Some(key) = self.read().await? {
            // Another thread of this process was faster, with the same key.
            let _ = self.key.set(key);
        }
        Ok(())
    }

    /// The key, which is made if it is not there.
    ///
    /// # Errors
    /// The Secret is unreadable, holds no key, or is absent and this process may not write.
    pub async fn get(&self) -> Result<&[u8], SharedKeyError> {
        self.key.get_or_try_init(|| self.read_or_make()).await.map(Vec::as_slice)
    }

    async fn read_or_make(&self) -> Result<Vec<u8>, SharedKeyError> {
        if let Some(key) = self.read().await? {
            return Ok(key);
        }
        match self.secrets.create(&PostParams::default(), &fresh(&self.name)?).await {
            Ok(created) => self.key_in(created),
            Err(Error::Api(status)) if status.code == 409 => {
                let found = self.secrets.get(&self.name).await;
                self.key_in(found.map_err(|cause| self.refused(cause))?)
            }
            Err(cause) => Err(self.refused(cause)),
        }
    }

    /// The key, if its Secret is there.
    async fn read(&self) -> Result<Option<Vec<u8>>, SharedKeyError> {
        let found = self.secrets.get_opt(&self.name).await;
        let found = found.map_err(|cause| self.refused(cause))?;
        found.map(|secret| self.key_in(secret)).transpose()
    }

    fn key_in(&self, secret: Secret) -> Result<Vec<u8>, SharedKeyError> {
        let key = secret.data.and_then(|mut data| data.remove(FIELD)).map(|bytes| bytes.0);
        key.filter(|key| key.len() >= BYTES).ok_or_else(|| SharedKeyError::Malformed {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        })
    }

    fn refused(&self, cause: Error) -> SharedKeyError {
        SharedKeyError::Refused {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            cause: Box::new(cause),
        }
    }
}

fn fresh(name: &str) -> Result<Secret, SharedKeyError> {
    let mut key = vec![0; BYTES];
    rand::fill(&mut key).map_err(|_| SharedKeyError::Randomness)?;
    Ok(Secret {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([(FIELD.to_owned(), ByteString(key))])),
        immutable: Some(true),
        ..Secret::default()
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::*;
    use crate::scripted::Script;

    const SECRETS: &str = "/api/v1/namespaces/olm/secrets";

    fn secret(bytes: usize) -> Value {
        let data = json!({"key": ByteString(vec![7; bytes])});
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "k"}, "data": data})
    }

    fn key(script: &Script, leadership: &Leadership) -> SharedKey {
        SharedKey::new(&script.client_of(leadership), "olm", "k")
    }

    fn absent() -> Script {
        Script::new().refuse(&format!("GET {SECRETS}/k"), 404, "NotFound", "not found")
    }

    #[tokio::test]
    async fn a_process_without_rivals_makes_the_key_when_it_starts() {
        let script = absent().answer(&format!("POST {SECRETS}?"), 201, secret(32));
        let alone = Leadership::alone();
        let key = key(&script, &alone);
        key.look(&alone).await.unwrap();
        assert_eq!(key.get().await.unwrap(), [7; 32]);
        script.finish();
    }

    #[rstest]
    #[case::needed(true)]
    #[case::not_needed(false)]
    #[tokio::test]
    async fn a_key_that_is_not_needed_is_not_looked_for(#[case] is_needed: bool) {
        let alone = Leadership::alone();
        let script = match is_needed {
            true => Script::new().answer(&format!("GET {SECRETS}/k"), 200, secret(32)),
            false => Script::new(),
        };
        let client = script.client_of(&alone);
        let key = SharedKey::if_needed(is_needed, &client, ("olm", "k"), &alone).await.unwrap();
        assert_eq!(key.is_some(), is_needed);
        assert_eq!(script.finish().len(), usize::from(is_needed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_replica_makes_the_key_once_it_leads() {
        let post = format!("POST {SECRETS}?");
        let script = absent();
        let replica = Leadership::awaited();
        let waiting = key(&script, &replica);
        waiting.look(&replica).await.unwrap();
        assert!(script.finish().iter().all(|seen| seen.line.starts_with("GET ")));
        let script = absent();
        let waiting = key(&script, &replica);
        assert!(matches!(waiting.get().await, Err(SharedKeyError::Refused { .. })));
        script.finish();
        replica.renewed(Instant::now(), std::time::Duration::from_secs(10));
        let script = absent().answer(&post, 201, secret(32));
        assert_eq!(key(&script, &replica).get().await.unwrap(), [7; 32]);
        script.finish();
    }

    #[rstest]
    #[case::alone(Leadership::alone())]
    #[case::a_replica(Leadership::awaited())]
    #[tokio::test]
    async fn what_is_there_is_read_and_a_short_one_is_an_error(#[case] leadership: Leadership) {
        let script = Script::new().answer(&format!("GET {SECRETS}/k"), 200, secret(32));
        let found = key(&script, &leadership);
        found.look(&leadership).await.unwrap();
        assert_eq!(found.get().await.unwrap(), [7; 32]);
        script.finish();
        let script = Script::new().answer(&format!("GET {SECRETS}/k"), 200, secret(31));
        let error = key(&script, &leadership).look(&leadership).await.unwrap_err();
        assert!(matches!(error, SharedKeyError::Malformed { .. }), "{error}");
    }
}
