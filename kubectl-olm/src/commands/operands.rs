//! `operands`: the custom resources of the kinds that an operator owns.

use anyhow::{Context, Result};
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use olm_client::operator::subscription;
use olm_client::{Cluster, TimedOut, cause};
use olm_plan::observed::namespace;
use olm_types::api::{ClusterServiceVersion, CrdDescription};
use serde::Serialize;

use super::observe;
use crate::Outcome;
use crate::output::{Kind, Output, Table, age};

/// A custom resource.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Operand {
    crd: String,
    kind: String,
    namespace: Option<String>,
    name: String,
    /// It waits for these before it goes.
    finalizers: Vec<String>,
    is_deleting: bool,
    created: Option<String>,
}

/// Prints the custom resources, of every namespace: what an operator manages is not only beside it.
pub async fn run(
    cluster: &Cluster,
    home: Option<&str>,
    name: &str,
    output: Output,
) -> Result<Outcome> {
    let observed = observe(cluster, home, false).await?;
    let subscription = subscription(&observed, name)?;
    let installed = subscription.status.as_ref().and_then(|status| status.installed_csv.as_deref());
    let installed = installed.context("nothing is installed for this Subscription yet")?;
    let csv = observed.csv(namespace(&subscription.metadata), installed);
    let csv = csv.with_context(|| format!("the installed CSV {installed} cannot be read"))?;
    let (mut operands, mut outcome) = (Vec::new(), Outcome::Fine);
    for owned in owned(csv) {
        let reading = format!("reading the objects of {}", owned.name);
        match cluster.notices.slow(&reading, objects(cluster, owned)).await {
            Ok(found) => operands.extend(found),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) => {
                Output::complain(&format!("unknown: {}: {}", owned.name, cause(&error)));
                outcome = Outcome::Incomplete;
            }
        }
    }
    let names = operands.iter().map(|one| format!("{}/{}", one.crd, one.name));
    output.list(Kind::OperandList, &operands, table(&operands), names)?;
    Ok(outcome)
}

fn owned(csv: &ClusterServiceVersion) -> impl Iterator<Item = &CrdDescription> {
    csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned)
}

async fn objects(cluster: &Cluster, crd: &CrdDescription) -> Result<Vec<Operand>> {
    let (plural, group) = crd.name.split_once('.').context("the CSV names it without a group")?;
    let kind = GroupVersionKind::gvk(group, &crd.version, &crd.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, plural);
    let api: Api<DynamicObject> = Api::all_with(cluster.client.clone(), &resource);
    let found = cluster.list(&api).await?;
    Ok(found.into_iter().map(|object| operand(crd, object)).collect())
}

fn operand(crd: &CrdDescription, object: DynamicObject) -> Operand {
    let metadata = object.metadata;
    Operand {
        crd: crd.name.clone(),
        kind: crd.kind.clone(),
        namespace: metadata.namespace,
        name: metadata.name.unwrap_or_default(),
        finalizers: metadata.finalizers.unwrap_or_default(),
        is_deleting: metadata.deletion_timestamp.is_some(),
        created: metadata.creation_timestamp.map(|time| time.0.to_string()),
    }
}

fn table(operands: &[Operand]) -> Table {
    let mut table = Table::new(&["NAME", "NAMESPACE", "KIND", "STATE", "AGE"]);
    for one in operands {
        let state = match one.is_deleting {
            true => format!("deleting, waits for {}", one.finalizers.join(", ")),
            false => "present".to_owned(),
        };
        table.row(vec![
            one.name.clone(),
            one.namespace.clone().unwrap_or_default(),
            one.kind.clone(),
            state,
            age(one.created.as_deref(), Timestamp::now()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_custom_resources() {
        let crd = CrdDescription { name: "as.x.io".to_owned(), ..CrdDescription::default() };
        let object = |metadata: serde_json::Value| {
            let object = json!({"apiVersion": "x.io/v1", "kind": "A", "metadata": metadata});
            operand(&crd, serde_json::from_value(object).unwrap())
        };
        let going = json!({"name": "a", "namespace": "ns", "finalizers": ["f"],
            "creationTimestamp": "2026-01-02T03:04:05Z"});
        let items = [object(going), object(json!({"name": "b"}))];
        assert_described(Kind::OperandList, &json!({"items": items}));
    }
}
