//! Lists of which only a part is kept.

use anyhow::{Context, Result, bail};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::Resource;
use kube::api::{Api, ListParams};
use kube::core::Request;
use olm_types::document::{Budget, json_as};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::cluster::Cluster;

/// Objects of one answer, where they may be large.
pub(crate) const FEW: u32 = 50;

/// Objects of one answer, where they are small.
pub(crate) const MANY: u32 = 500;

/// Pages of one list: more than any cluster has.
const PAGES: usize = 20_000;

/// A list whose objects are not read yet.
#[derive(Deserialize)]
struct RawList {
    #[serde(default)]
    metadata: ListMeta,
    items: Option<Vec<Box<RawValue>>>,
}

impl Cluster {
    /// All objects of a list with what is kept of each, and the bytes that it took.
    ///
    /// # Errors
    /// As [`Cluster::answer`]; an object is malformed, or the list has no end.
    pub(crate) async fn kept<K, T>(
        &self,
        api: &Api<K>,
        (size, labels): (u32, Option<&str>),
        keep: impl Fn(K, usize) -> T,
    ) -> Result<Vec<T>>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let mut kept = Vec::new();
        let mut parameters = parameters(size, labels);
        for _ in 0..PAGES {
            let page = self.page(api, &parameters).await?;
            for item in page.items.iter().flatten() {
                let object = json_as(item.get(), &Budget::OBJECT);
                let object = object.with_context(|| format!("a malformed {}", K::kind(&())))?;
                kept.push(keep(object, item.get().len()));
            }
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters = parameters.continue_token(&token),
                None => return Ok(kept),
            }
        }
        bail!("the API server answers with more than {PAGES} pages")
    }

    /// The same of an API that answers with everything at once, whatever limit is asked for. An object that is
    /// malformed or too large is left out; the second list names it, and says why.
    ///
    /// # Errors
    /// As [`Cluster::answer`].
    pub(crate) async fn kept_at_once<K, T>(
        &self,
        api: &Api<K>,
        keep: impl Fn(K) -> T,
    ) -> Result<(Vec<T>, Vec<String>)>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let (mut kept, mut unread) = (Vec::new(), Vec::new());
        for item in self.page(api, &ListParams::default()).await?.items.into_iter().flatten() {
            match json_as(item.get(), &Budget::BUNDLE) {
                Ok(object) => kept.push(keep(object)),
                Err(error) => unread.push(format!("{} {} ({error})", K::kind(&()), named(&item))),
            }
        }
        Ok((kept, unread))
    }

    async fn page<K: Resource>(&self, api: &Api<K>, parameters: &ListParams) -> Result<RawList> {
        let request = Request::new(api.resource_url()).list(parameters);
        self.answer(self.client.request(request.context("cannot make a request")?)).await
    }
}

/// The name of an object of which no more is read; none where even that takes too much.
fn named(item: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Named {
        metadata: NameOnly,
    }
    #[derive(Deserialize)]
    struct NameOnly {
        name: String,
    }
    let named = json_as::<Named>(item.get(), &Budget::CATALOG);
    named.map(|named| named.metadata.name).unwrap_or_default()
}

fn parameters(size: u32, labels: Option<&str>) -> ListParams {
    let parameters = ListParams::default().limit(size);
    labels.into_iter().fold(parameters, ListParams::labels)
}
