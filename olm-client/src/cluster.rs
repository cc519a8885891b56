//! A cluster that is read: lists in pages, and each answer with a deadline.

use std::fmt::{self, Debug, Display};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, ListParams, ObjectList};
use kube::{Client, Resource};
use olm_plan::settings::{PROGRAMS, Settings};
use olm_types::api::PackageManifest;
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::catalogs::{Cache, Folders, Route};
use crate::notices::Notices;

/// Objects of one answer.
const PAGE: u32 = 500;

/// Pages of one list: more than any cluster has.
const PAGES: usize = 2_000;

/// A request got no answer in time.
#[derive(Debug)]
pub struct TimedOut(Duration);

impl Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f32();
        write!(f, "no answer of the API server within {seconds} s; --request-timeout allows more")
    }
}

impl std::error::Error for TimedOut {}

/// A cluster, and the namespace that is looked at.
#[derive(Clone)]
pub struct Cluster {
    /// Asks the API server as the user.
    pub client: Client,
    /// By flag or context.
    pub namespace: String,
    /// Whether a flag names the namespace.
    pub is_named: bool,
    /// The address of the API server.
    pub server: String,
    /// Where is kept what was read once.
    pub cache: Cache,
    /// Catalogs of folders, as they were read last.
    pub folders: Folders,
    /// Without one an answer may take for ever.
    pub timeout: Option<Duration>,
    /// Takes what is said beside a result.
    pub notices: Notices,
    /// How the contents of catalogs are reached.
    pub route: Route,
    /// Whether it is known how OLM runs.
    pub remembered: Remembered,
}

/// How OLM runs, where that is read once: for what is over in a moment, such as one page. By default it is read as
/// often as it is asked for.
#[derive(Clone, Default)]
pub struct Remembered(Option<Arc<OnceCell<Settings>>>);

impl Remembered {
    /// What is read from now on is remembered.
    #[must_use]
    pub fn from_now_on() -> Self {
        Self(Some(Arc::default()))
    }
}

impl Cluster {
    /// How OLM runs there, as far as its Deployments may be read; a flag may name the namespace of global
    /// catalogs.
    ///
    /// # Errors
    /// Time runs out.
    pub async fn settings(&self, global: Option<&str>) -> Result<Settings> {
        let mut settings = match &self.remembered.0 {
            Some(known) => known.get_or_try_init(|| self.read_settings()).await?.clone(),
            None => self.read_settings().await?,
        };
        if let Some(global) = global {
            global.clone_into(&mut settings.global_namespace);
        }
        Ok(settings)
    }

    async fn read_settings(&self) -> Result<Settings> {
        let api: Api<Deployment> = Api::all(self.client.clone());
        let read = self.answer(api.list(&ListParams::default().labels(PROGRAMS))).await;
        let found = match read {
            Ok(found) => Settings::of(&found.items),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) => {
                let cause = cause(&error);
                self.notices.say(&format!(
                    "warning: how OLM runs cannot be read ({cause}); it is taken for olm-rs without flags"
                ));
                None
            }
        };
        Ok(found.unwrap_or_default())
    }

    /// The objects of a kind in a namespace, or in all.
    pub fn api<K>(&self, home: Option<&str>) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        match home {
            Some(home) => Api::namespaced(self.client.clone(), home),
            None => Api::all(self.client.clone()),
        }
    }

    /// What a request is answered, in time.
    ///
    /// # Errors
    /// The request fails, or time runs out: [`TimedOut`].
    pub async fn answer<T>(&self, asked: impl Future<Output = kube::Result<T>>) -> Result<T> {
        match self.timeout {
            None => asked.await.map_err(|error| self.named(error)),
            Some(limit) => match timeout(limit, asked).await {
                Ok(answer) => answer.map_err(|error| self.named(error)),
                Err(_) => Err(TimedOut(limit).into()),
            },
        }
    }

    /// An error that names the API server where that cannot be reached.
    fn named(&self, error: kube::Error) -> anyhow::Error {
        let is_transport = matches!(error, kube::Error::Service(_) | kube::Error::HyperError(_));
        let error = anyhow::Error::from(error);
        match is_transport {
            true => {
                let server = self.server.trim_end_matches('/');
                error.context(format!("the API server at {server} cannot be reached"))
            }
            false => error,
        }
    }

    /// All objects of a list, page by page.
    ///
    /// # Errors
    /// As [`Self::answer`]; the list has no end.
    pub async fn list<K>(&self, api: &Api<K>) -> Result<Vec<K>>
    where
        K: Clone + DeserializeOwned + Debug,
    {
        self.pages(api, ListParams::default()).await
    }

    /// All objects of a list that have a label.
    ///
    /// # Errors
    /// As [`Self::list`].
    pub async fn labelled_list<K>(&self, api: &Api<K>, label: &str) -> Result<Vec<K>>
    where
        K: Clone + DeserializeOwned + Debug,
    {
        self.pages(api, ListParams::default().labels(label)).await
    }

    /// The metadata of all objects of a list, or of those that have a label, without the record of who wrote
    /// which field.
    ///
    /// # Errors
    /// As [`Self::list`].
    pub async fn metadata<K>(&self, api: &Api<K>, label: Option<&str>) -> Result<Vec<ObjectMeta>>
    where
        K: Clone + DeserializeOwned + Debug,
    {
        let parameters = label.into_iter().fold(ListParams::default(), ListParams::labels);
        let found = self.all_pages(parameters, async |page| api.list_metadata(page).await).await?;
        Ok(found.into_iter().map(|object| slim_metadata(object.metadata)).collect())
    }

    async fn pages<K>(&self, api: &Api<K>, parameters: ListParams) -> Result<Vec<K>>
    where
        K: Clone + DeserializeOwned + Debug,
    {
        self.all_pages(parameters, async |page| api.list(page).await).await
    }

    async fn all_pages<T: Clone>(
        &self,
        parameters: ListParams,
        ask: impl AsyncFn(&ListParams) -> kube::Result<ObjectList<T>>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let mut parameters = parameters.limit(PAGE);
        for _ in 0..PAGES {
            let page = self.answer(ask(&parameters)).await?;
            found.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters = parameters.continue_token(&token),
                None => return Ok(found),
            }
        }
        bail!("the API server answers with more than {PAGES} pages")
    }

    /// What the packages API presents in a namespace, or in all. It answers with everything at once, whatever limit
    /// is asked for.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub async fn package_manifests(&self, home: Option<&str>) -> Result<Vec<PackageManifest>> {
        let api: Api<PackageManifest> = self.api(home);
        Ok(self.answer(api.list(&ListParams::default())).await?.items)
    }
}

/// Metadata without the record of who wrote which field.
pub fn slim_metadata(metadata: ObjectMeta) -> ObjectMeta {
    ObjectMeta { managed_fields: None, ..metadata }
}

/// Whether there is no such object, or its kind is not served.
pub(crate) fn is_not_found(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(kube::Error::Api(status)) if status.code == 404)
}

/// An error in one line.
pub fn cause(error: &anyhow::Error) -> String {
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) if status.code == 404 && !names_an_object(status) => {
            "the cluster has no such kind".into()
        }
        Some(kube::Error::Api(status)) => status.message.clone(),
        _ => format!("{error:#}"),
    }
}

/// Whether an answer is about an object that is not there, such as the namespace of another one. About a kind that is
/// not served it names none.
fn names_an_object(status: &kube::core::Status) -> bool {
    status.details.as_ref().is_some_and(|details| !details.kind.is_empty())
}

/// Says that a cluster has no OLM, where that is the cause.
pub fn without_olm(error: anyhow::Error) -> anyhow::Error {
    match is_not_found(&error) {
        true => error.context("the cluster has no Subscriptions: OLM is not installed"),
        false => error.context("cannot read Subscriptions"),
    }
}

/// Why a command of one namespace refuses `-A`.
pub const ONE_NAMESPACE: &str =
    "this command looks at one namespace; name it with -n instead of -A";

/// A namespace in which a command acts; one that acts on one namespace has no `-A`.
///
/// # Errors
/// `-A` was given.
pub fn one_namespace(cluster: &Cluster, all: bool) -> Result<&str> {
    if all {
        bail!(ONE_NAMESPACE);
    }
    Some(cluster.namespace.as_str()).filter(|name| !name.is_empty()).context("-n names nothing")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::stub;

    #[rstest]
    #[case::namespace(json!({"code": 404, "message": "namespaces \"a\" not found",
        "details": {"name": "a", "kind": "namespaces"}}), "namespaces \"a\" not found")]
    #[case::kind(json!({"code": 404, "message": "404 page not found"}), "the cluster has no such kind")]
    #[case::denied(json!({"code": 403, "message": "no", "details": {"kind": "pods"}}), "no")]
    fn a_cause_names_what_is_not_there(#[case] status: serde_json::Value, #[case] expected: &str) {
        let status: kube::core::Status = serde_json::from_value(status).unwrap();
        assert_eq!(cause(&kube::Error::Api(status.boxed()).into()), expected);
    }

    #[rstest]
    #[case::as_often_as_it_is_asked_for(Remembered::default(), 2)]
    #[case::once(Remembered::from_now_on(), 1)]
    #[tokio::test]
    async fn how_olm_runs_is_read(#[case] remembered: Remembered, #[case] expected: usize) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let mut cluster = stub::cluster(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Some(json!({"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {},
                "items": []}))
        });
        cluster.remembered = remembered;
        for global in ["a", "b"] {
            let settings = cluster.settings(Some(global)).await.unwrap();
            assert_eq!(settings.global_namespace, global);
        }
        assert_eq!(asked.load(Ordering::SeqCst), expected);
    }
}
