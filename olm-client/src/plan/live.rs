//! What a preview reads of a cluster. What may not be read is noted, and then unknown.

use anyhow::{Result, anyhow};
use futures::stream::{self, StreamExt};
use kube::api::DynamicObject;
use olm_effect::{Resource, Target};
use olm_plan::preview::{Key, Known, PreviewRequest, ReadRequest};
use olm_types::labels::{COPIED_FROM, OWNER};
use serde_json::{Value, json};

use crate::cluster::{Cluster, TimedOut, cause, is_not_found};

/// Where the objects of a kind are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListScope {
    /// In the namespace.
    Home,
    /// In the namespace of global catalogs, if that is another one.
    Global,
    /// Everywhere, or at least in the namespace.
    Everywhere,
    /// In the cluster.
    Cluster,
    /// In the cluster, those that OLM has made for a CSV.
    Owned,
    /// Everywhere, without copies.
    Originals,
    /// In the cluster, where there is such a kind.
    Optional,
}

/// What every preview reads: group, version, kind, plural.
const LISTED: [([&str; 4], ListScope); 19] = [
    (["operators.coreos.com", "v1alpha1", "Subscription", "subscriptions"], ListScope::Home),
    (["operators.coreos.com", "v1alpha1", "InstallPlan", "installplans"], ListScope::Home),
    (["operators.coreos.com", "v1", "OperatorGroup", "operatorgroups"], ListScope::Everywhere),
    (["operators.coreos.com", "v1alpha1", "CatalogSource", "catalogsources"], ListScope::Home),
    (["operators.coreos.com", "v1alpha1", "CatalogSource", "catalogsources"], ListScope::Global),
    (CSVS, ListScope::Originals),
    (["operators.coreos.com", "v2", "OperatorCondition", "operatorconditions"], ListScope::Home),
    (["operators.coreos.com", "v1", "OLMConfig", "olmconfigs"], ListScope::Optional),
    (["rbac.authorization.k8s.io", "v1", "Role", "roles"], ListScope::Home),
    (["rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"], ListScope::Home),
    (["rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles"], ListScope::Cluster),
    (
        ["rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings"],
        ListScope::Cluster,
    ),
    (["", "v1", "ServiceAccount", "serviceaccounts"], ListScope::Home),
    (["", "v1", "Service", "services"], ListScope::Home),
    (["", "v1", "Namespace", "namespaces"], ListScope::Cluster),
    (["apps", "v1", "Deployment", "deployments"], ListScope::Home),
    (
        [
            "admissionregistration.k8s.io",
            "v1",
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
        ],
        ListScope::Owned,
    ),
    (
        [
            "admissionregistration.k8s.io",
            "v1",
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
        ],
        ListScope::Owned,
    ),
    (["config.openshift.io", "v1", "Proxy", "proxies"], ListScope::Optional),
];

const CSVS: [&str; 4] =
    ["operators.coreos.com", "v1alpha1", "ClusterServiceVersion", "clusterserviceversions"];

/// Requests under way at once.
const AT_ONCE: usize = 12;

/// Reads a cluster for one preview.
pub struct Reader<'a> {
    cluster: &'a Cluster,
    home: String,
    global: String,
    /// What could not be read, and why.
    pub unread: Vec<String>,
}

impl<'a> Reader<'a> {
    /// A reader that has read nothing yet.
    pub fn new(cluster: &'a Cluster, asked: &PreviewRequest) -> Self {
        let (home, global) = (asked.namespace.clone(), asked.settings.global_namespace.clone());
        Self { cluster, home, global, unread: Vec::new() }
    }

    /// What every preview needs.
    ///
    /// # Errors
    /// Subscriptions cannot be read, or time runs out.
    pub async fn begin(&mut self) -> Result<Known> {
        let mut known = Known::default();
        let version = self.cluster.answer(self.cluster.client.apiserver_version()).await;
        known.server_version = version.ok().map(|version| version.git_version);
        let this = &*self;
        let wanted =
            LISTED.iter().filter(|(_, place)| *place != ListScope::Global || this.has_global());
        let read = wanted.map(|(parts, place)| async move {
            (parts, place, this.read_all(*parts, *place).await)
        });
        let read: Vec<_> = stream::iter(read).buffered(AT_ONCE).collect().await;
        for (parts, place, found) in read {
            self.take(&resource_of(*parts), *place, found, &mut known).await?;
        }
        self.namespace(&mut known).await?;
        self.copies(&mut known).await?;
        Ok(known)
    }

    /// The copies of what is installed here are counted by their metadata: each has the size of its original.
    async fn copies(&mut self, known: &mut Known) -> Result<()> {
        let resource = resource_of(CSVS);
        let label = format!("{COPIED_FROM}={}", self.home);
        let found =
            self.cluster.metadata(&self.cluster.objects(&resource, None), Some(&label)).await;
        let found = found.map(|all| {
            all.iter()
                .map(|metadata| {
                    json!({"apiVersion": resource.api_version(), "kind": resource.kind,
                        "metadata": metadata})
                })
                .collect()
        });
        self.keep(found, "copies of clusterserviceversions", known)
    }

    fn has_global(&self) -> bool {
        self.global != self.home
    }

    async fn read_all(&self, parts: [&str; 4], place: ListScope) -> Result<Vec<Value>> {
        let resource = resource_of(parts);
        match place {
            ListScope::Home => self.list(&resource, Some(&self.home)).await,
            ListScope::Global => self.list(&resource, Some(&self.global)).await,
            ListScope::Everywhere | ListScope::Cluster | ListScope::Optional => {
                self.list(&resource, None).await
            }
            ListScope::Owned => self.labelled(&resource, OWNER).await,
            ListScope::Originals => self.labelled(&resource, &format!("!{COPIED_FROM}")).await,
        }
    }

    /// Keeps what was read; of what is not readable everywhere at least what is here.
    async fn take(
        &mut self,
        resource: &Resource,
        place: ListScope,
        read: Result<Vec<Value>>,
        known: &mut Known,
    ) -> Result<()> {
        let kind = (resource.group.clone(), resource.kind.clone());
        match read {
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) if resource.kind == "Subscription" => return Err(error),
            Err(error) if place == ListScope::Optional && is_not_found(&error) => {}
            Err(error) if matches!(place, ListScope::Everywhere | ListScope::Originals) => {
                let elsewhere =
                    format!("{} of other namespaces ({})", resource.plural, cause(&error));
                self.unread.push(elsewhere);
                let home = self.home.clone();
                let found = self.list(resource, Some(&home)).await;
                self.keep(found, &resource.plural, known)?;
            }
            Err(error) => self.unread.push(format!("{} ({})", resource.plural, cause(&error))),
            Ok(found) => {
                found.into_iter().for_each(|object| known.add(object));
                match place {
                    ListScope::Home => {
                        known.complete.insert((kind.0, kind.1, self.home.clone()));
                    }
                    ListScope::Global | ListScope::Owned | ListScope::Originals => {}
                    ListScope::Everywhere | ListScope::Cluster | ListScope::Optional => {
                        known.listed.insert(kind, None);
                    }
                }
            }
        }
        Ok(())
    }

    /// The namespace itself, where Namespaces cannot be listed; another one stands for all when it is not there.
    async fn namespace(&mut self, known: &mut Known) -> Result<()> {
        let kind = (String::new(), "Namespace".to_owned());
        if known.listed.contains_key(&kind) {
            return Ok(());
        }
        let target =
            Target::cluster(Resource::new("", "v1", "Namespace", "namespaces"), &self.home);
        self.object(&target, known).await?;
        if known.absent.contains(&Key::of_target(&target)) {
            known.add(json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": "kube-system"}}));
        }
        Ok(())
    }

    /// Reads objects that a preview asks for, several at once.
    ///
    /// # Errors
    /// Time runs out.
    pub async fn objects(&mut self, targets: Vec<Target>, known: &mut Known) -> Result<()> {
        let this = &*self;
        let read = targets.into_iter().map(|target| async move {
            let api = this.cluster.objects(&target.resource, target.namespace.as_deref());
            let found = this.cluster.answer(api.get_opt(&target.name)).await;
            (target, found)
        });
        let read: Vec<_> = stream::iter(read).buffered(AT_ONCE).collect().await;
        for (target, found) in read {
            self.keep_object(&target, found, known)?;
        }
        Ok(())
    }

    /// Reads what a preview asks for.
    ///
    /// # Errors
    /// Time runs out.
    pub async fn read(&mut self, need: ReadRequest, known: &mut Known) -> Result<()> {
        match need {
            ReadRequest::Object(target) => self.object(&target, known).await,
            ReadRequest::Kind(kind) => {
                let served = self.cluster.served(&kind).await?;
                known.kinds.insert(kind, served);
                Ok(())
            }
            ReadRequest::Objects(resource) => {
                let place = (resource.group.clone(), resource.kind.clone());
                let found = self.list_in_any_version(&resource).await;
                match found {
                    Ok(found) => {
                        found.into_iter().for_each(|object| known.add(object));
                        known.listed.insert(place, None);
                    }
                    Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
                    Err(error) => drop(known.listed.insert(place, Some(cause(&error)))),
                }
                Ok(())
            }
            ReadRequest::Bundle(_) => Ok(()),
        }
    }

    async fn object(&mut self, target: &Target, known: &mut Known) -> Result<()> {
        let api = self.cluster.objects(&target.resource, target.namespace.as_deref());
        let found = self.cluster.answer(api.get_opt(&target.name)).await;
        self.keep_object(target, found, known)
    }

    fn keep_object(
        &mut self,
        target: &Target,
        found: Result<Option<DynamicObject>>,
        known: &mut Known,
    ) -> Result<()> {
        let key = Key::of_target(target);
        match found {
            Ok(Some(found)) => {
                let object = typed(found, &target.resource)?;
                known.objects.insert(key, object);
            }
            Ok(None) => drop(known.absent.insert(key)),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            // Of a kind that the cluster does not have there is no object either.
            Err(error) if is_not_found(&error) => drop(known.absent.insert(key)),
            Err(error) => {
                self.unread.push(format!("{target} ({})", cause(&error)));
                known.absent.insert(key);
            }
        }
        Ok(())
    }

    async fn list(&self, resource: &Resource, namespace: Option<&str>) -> Result<Vec<Value>> {
        let found = self.cluster.list(&self.cluster.objects(resource, namespace)).await?;
        found.into_iter().map(|object| typed(object, resource)).collect()
    }

    /// All objects of a kind. A version that only the plan brings is not served yet: then they are read in one that
    /// is.
    async fn list_in_any_version(&self, resource: &Resource) -> Result<Vec<Value>> {
        let absent = match self.list(resource, None).await {
            Err(error) if is_not_found(&error) => error,
            listed => return listed,
        };
        let groups = self.cluster.answer(self.cluster.client.list_api_groups()).await?;
        let own = groups.groups.into_iter().filter(|group| group.name == resource.group);
        for served in own.flat_map(|group| group.versions) {
            let Resource { group, kind, plural, .. } = resource;
            let other = Resource::new(group, &served.version, kind, plural);
            match self.list(&other, None).await {
                Err(error) if is_not_found(&error) => {}
                listed => return listed,
            }
        }
        Err(absent)
    }

    async fn labelled(&self, resource: &Resource, label: &str) -> Result<Vec<Value>> {
        let found =
            self.cluster.labelled_list(&self.cluster.objects(resource, None), label).await?;
        found.into_iter().map(|object| typed(object, resource)).collect()
    }

    fn keep(&mut self, read: Result<Vec<Value>>, what: &str, known: &mut Known) -> Result<()> {
        match read {
            Ok(found) => found.into_iter().for_each(|object| known.add(object)),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) => self.unread.push(format!("{what} ({})", cause(&error))),
        }
        Ok(())
    }
}

fn resource_of([group, version, kind, plural]: [&str; 4]) -> Resource {
    Resource::new(group, version, kind, plural)
}

/// An object with its kind, which lists of an API server leave out.
fn typed(object: DynamicObject, resource: &Resource) -> Result<Value> {
    let mut value = serde_json::to_value(object).map_err(|error| anyhow!(error))?;
    value["apiVersion"] = resource.api_version().into();
    value["kind"] = resource.kind.as_str().into();
    Ok(value)
}

#[cfg(test)]
mod tests {
    use olm_plan::preview::Operation;
    use rstest::rstest;

    use super::*;
    use crate::stub;

    /// What is known of an object that is not there, by the answer of the API server.
    #[rstest]
    #[case::no_kind(json!({"code": 404, "message": "404 page not found"}), &[])]
    #[case::no_right(json!({"code": 403, "message": "monitors is forbidden"}),
        &["Monitor ns/a (monitors is forbidden)"])]
    #[tokio::test]
    async fn an_object_of_a_kind_that_is_not_there_is_absent(
        #[case] status: Value,
        #[case] unread: &[&str],
    ) {
        let wanted = Operation::Uninstall { operator: String::new() };
        let (settings, now) = (Default::default(), jiff::Timestamp::UNIX_EPOCH);
        let asked = PreviewRequest { namespace: "ns".to_owned(), settings, now, wanted };
        let cluster = stub::cluster(|_| None);
        let (mut reader, mut known) = (Reader::new(&cluster, &asked), Known::default());
        let target =
            Target::namespaced(Resource::new("x.io", "v1", "Monitor", "monitors"), "ns", "a");
        let status: kube::core::Status = serde_json::from_value(status).unwrap();
        let answer = Err(kube::Error::Api(status.boxed()).into());
        reader.keep_object(&target, answer, &mut known).unwrap();
        assert!(known.absent.contains(&Key::of_target(&target)));
        assert_eq!(reader.unread, unread);
    }
}
