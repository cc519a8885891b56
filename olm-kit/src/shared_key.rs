//! A key that several processes of an installation share: random bytes in a Secret.

use std::collections::BTreeMap;

use aws_lc_rs::rand;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Error};

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

/// The key in this Secret, which is made if it is not there. Whoever comes first makes it.
///
/// # Errors
/// The Secret is unreadable, or holds no key.
pub async fn shared_key(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<Vec<u8>, SharedKeyError> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let refused = |cause| SharedKeyError::Refused {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        cause: Box::new(cause),
    };
    let secret = match secrets.get_opt(name).await.map_err(refused)? {
        Some(secret) => secret,
        None => match secrets.create(&PostParams::default(), &fresh(name)?).await {
            Ok(created) => created,
            Err(Error::Api(status)) if status.code == 409 => {
                secrets.get(name).await.map_err(refused)?
            }
            Err(cause) => return Err(refused(cause)),
        },
    };
    let key = secret.data.and_then(|mut data| data.remove(FIELD)).map(|bytes| bytes.0);
    key.filter(|key| key.len() >= BYTES).ok_or_else(|| SharedKeyError::Malformed {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
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
