//! Who calls an endpoint of this process, and whether they may.
//!
//! ```text
//! authorities   which certificates of callers count
//! identity      who calls: through the front proxy, with a certificate, with a token, anonymous
//! authorize     whether they may: the API server is asked, and its answer kept for seconds
//! ```

mod authorities;
mod identity;

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;

pub use authorities::{Authorities, AuthoritiesError};
pub use identity::User;
pub(crate) use identity::identify;

/// How long an answer counts; as in Kubernetes' own aggregated APIs.
const KEPT: Duration = Duration::from_secs(10);

/// Answers that are kept; when there are more, all are forgotten.
const REMEMBERED: usize = 4096;

/// Bytes of a question whose answer is kept: a longer one is asked each time, so that no caller fills
/// memory with what it makes up.
const KEPT_BYTES: usize = 4096;

/// Questions about anonymous callers at the same time, of all that the API server answers for this
/// process.
static ANONYMOUS: Semaphore = Semaphore::const_new(4);

/// What a caller wants to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// Read a path that is no object.
    Path(String),
    /// Read objects.
    Objects {
        group: String,
        version: String,
        resource: String,
        subresource: Option<String>,
        verb: &'static str,
        namespace: Option<String>,
        name: Option<String>,
    },
}

impl Access {
    /// Bytes of what a caller chose.
    fn bytes(&self) -> usize {
        match self {
            Self::Path(path) => path.len(),
            Self::Objects { namespace, name, .. } => {
                [namespace, name].into_iter().flatten().map(String::len).sum()
            }
        }
    }
}

/// Asks the API server.
pub struct Authorizer {
    client: Client,
    known: Mutex<BTreeMap<(User, Access), CachedReview>>,
}

#[derive(Clone, Debug)]
struct CachedReview {
    allowed: bool,
    reason: String,
    until: Instant,
}

impl Authorizer {
    /// Asks with `client`.
    pub fn new(client: Client) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// Whether the user may; if not, the API server's reason.
    ///
    /// # Errors
    /// The API server cannot be asked.
    pub(crate) async fn allows(
        &self,
        user: &User,
        access: &Access,
    ) -> Result<Result<(), String>, kube::Error> {
        let key = (user.clone(), access.clone());
        let known = self.known.lock().get(&key).filter(|one| one.until > Instant::now()).cloned();
        let answer = match known {
            Some(answer) => answer,
            None => self.ask(key).await?,
        };
        Ok(if answer.allowed { Ok(()) } else { Err(answer.reason) })
    }

    async fn ask(&self, key: (User, Access)) -> Result<CachedReview, kube::Error> {
        let reviews: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let _permit = if key.0.is_anonymous() { Some(ANONYMOUS.acquire().await) } else { None };
        let review = reviews.create(&PostParams::default(), &review(&key.0, &key.1)).await?;
        let status = review.status.unwrap_or_default();
        let answer = CachedReview {
            allowed: status.allowed,
            reason: status.reason.unwrap_or_default(),
            until: Instant::now() + KEPT,
        };
        if key.0.bytes() + key.1.bytes() > KEPT_BYTES {
            return Ok(answer);
        }
        let mut known = self.known.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, answer.clone());
        Ok(answer)
    }
}

fn review(user: &User, access: &Access) -> SubjectAccessReview {
    let mut spec = SubjectAccessReviewSpec {
        user: Some(user.name.clone()),
        groups: Some(user.groups.clone()),
        extra: Some(user.extra.clone()),
        ..SubjectAccessReviewSpec::default()
    };
    match access.clone() {
        Access::Path(path) => {
            spec.non_resource_attributes =
                Some(NonResourceAttributes { path: Some(path), verb: Some("get".to_owned()) });
        }
        Access::Objects { group, version, resource, subresource, verb, namespace, name } => {
            spec.resource_attributes = Some(ResourceAttributes {
                group: Some(group),
                version: Some(version),
                resource: Some(resource),
                subresource,
                verb: Some(verb.to_owned()),
                namespace,
                name,
                ..ResourceAttributes::default()
            });
        }
    }
    SubjectAccessReview { spec, ..SubjectAccessReview::default() }
}
