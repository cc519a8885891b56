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
            read(&page, &keep, &mut kept)?;
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters = parameters.continue_token(&token),
                None => return Ok(kept),
            }
        }
        bail!("the API server answers with more than {PAGES} pages")
    }

    /// The same of an API that answers with everything at once, whatever limit is asked for.
    ///
    /// # Errors
    /// As [`Cluster::answer`]; an object is malformed.
    pub(crate) async fn kept_at_once<K, T>(
        &self,
        api: &Api<K>,
        keep: impl Fn(K, usize) -> T,
    ) -> Result<Vec<T>>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let mut kept = Vec::new();
        read(&self.page(api, &ListParams::default()).await?, &keep, &mut kept)?;
        Ok(kept)
    }

    async fn page<K: Resource>(&self, api: &Api<K>, parameters: &ListParams) -> Result<RawList> {
        let request = Request::new(api.resource_url()).list(parameters);
        self.answer(self.client.request(request.context("cannot make a request")?)).await
    }
}

/// Reads the objects of a page, one after the other.
fn read<K, T>(page: &RawList, keep: &impl Fn(K, usize) -> T, kept: &mut Vec<T>) -> Result<()>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    for item in page.items.iter().flatten() {
        let object = json_as(item.get(), &Budget::OBJECT);
        let object = object.with_context(|| format!("a malformed {}", K::kind(&())))?;
        kept.push(keep(object, item.get().len()));
    }
    Ok(())
}

fn parameters(size: u32, labels: Option<&str>) -> ListParams {
    let parameters = ListParams::default().limit(size);
    labels.into_iter().fold(parameters, ListParams::labels)
}
