//! Manifests of a Subscription and what is applied with it, as they are in a Git repository.

use std::io::Read;
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result, bail, ensure};
use olm_client::plan::objects;
use olm_plan::preview::APPLIED_KINDS;
use olm_types::api::Subscription;
use olm_types::document::Budget;
use serde_json::Value;

use super::TargetNamespace;
use crate::output::Output;

/// More bytes are no Subscription.
const MOST_BYTES: u64 = 4 << 20;

/// What is applied.
#[derive(Debug)]
pub struct Applied {
    /// The namespace of the Subscription.
    pub namespace: String,
    /// The Subscription, and the Namespaces and OperatorGroups beside it.
    pub manifests: Vec<Value>,
}

impl Applied {
    /// Reads a file, or standard input for `-`. What a manifest has no namespace for goes to `home`.
    ///
    /// # Errors
    /// It cannot be read, has not exactly one Subscription, or one that is malformed or of another namespace than the
    /// one that is named.
    pub fn read(file: &Path, home: TargetNamespace<'_>) -> Result<Self> {
        let name = file.display().to_string();
        let text = text(file).with_context(|| format!("cannot read {name}"))?;
        Self::parse(&text, home).with_context(|| name)
    }

    fn parse(text: &[u8], home: TargetNamespace<'_>) -> Result<Self> {
        let objects = objects(text, Budget::OBJECT)?.into_iter();
        let (mut manifests, others): (Vec<Value>, Vec<Value>) = objects.partition(is_applied);
        if !others.is_empty() {
            let others = others.iter().map(named).collect::<Vec<_>>().join(", ");
            Output::complain(&format!("not looked at: {others}"));
        }
        let subscription = the_subscription(&manifests)?;
        check(subscription)?;
        let namespace = namespace(subscription, home)?;
        for manifest in &mut manifests {
            place(manifest, &namespace);
        }
        Ok(Self { namespace, manifests })
    }
}

fn text(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    match file.to_str() {
        Some("-") => io::stdin().take(MOST_BYTES + 1).read_to_end(&mut text)?,
        _ => fs::File::open(file)?.take(MOST_BYTES + 1).read_to_end(&mut text)?,
    };
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {MOST_BYTES} bytes")));
    }
    Ok(text)
}

/// Whether a preview takes it: kinds of other groups may have the same names.
fn is_applied(object: &Value) -> bool {
    let group = object["apiVersion"].as_str().unwrap_or_default();
    let is_known = group == "v1" || group.starts_with("operators.coreos.com/");
    is_known && APPLIED_KINDS.iter().any(|kind| object["kind"] == *kind)
}

fn named(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

fn the_subscription(manifests: &[Value]) -> Result<&Value> {
    let found: Vec<&Value> =
        manifests.iter().filter(|one| one["kind"] == Subscription::KIND).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => bail!("there is no Subscription of {}", Subscription::API_VERSION),
        several => {
            let names = several.iter().map(|one| named(one)).collect::<Vec<_>>().join(", ");
            bail!("there are {} Subscriptions, and a plan is of one: {names}", several.len())
        }
    }
}

fn check(manifest: &Value) -> Result<()> {
    let who = named(manifest);
    let typed: Subscription =
        serde_json::from_value(manifest.clone()).with_context(|| who.clone())?;
    let fields = [
        ("metadata.name", typed.metadata.name.as_deref().unwrap_or_default()),
        ("spec.name", &typed.spec.name),
        ("spec.source", &typed.spec.source),
        ("spec.sourceNamespace", &typed.spec.source_namespace),
    ];
    for (field, value) in fields {
        ensure!(!value.is_empty(), "{who} has no {field}");
    }
    Ok(())
}

fn namespace(manifest: &Value, home: TargetNamespace<'_>) -> Result<String> {
    let own = manifest["metadata"]["namespace"].as_str().filter(|own| !own.is_empty());
    match own {
        Some(own) if home.is_named && own != home.name => bail!(
            "{} is in namespace {own}, and -n names {}: leave one of the two out",
            named(manifest),
            home.name
        ),
        own => Ok(own.unwrap_or(home.name).to_owned()),
    }
}

/// An object without a namespace is in that of the Subscription.
fn place(manifest: &mut Value, namespace: &str) {
    let is_there = manifest["metadata"]["namespace"].as_str().is_some_and(|it| !it.is_empty());
    if manifest["kind"] != "Namespace" && !is_there {
        manifest["metadata"]["namespace"] = Value::from(namespace);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const GROUP: &str =
        "{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: g}}";
    const TEA: &str = "
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: tea}
spec: {name: tea, source: kitchen, sourceNamespace: olm}
";

    fn parsed(text: &str, named: Option<&str>) -> Result<Applied> {
        let home = TargetNamespace { name: named.unwrap_or("default"), is_named: named.is_some() };
        Applied::parse(text.as_bytes(), home)
    }

    #[test]
    fn a_subscription_is_read_with_what_stands_beside_it() {
        let other = "{apiVersion: example.com/v1, kind: Subscription, metadata: {name: other}}";
        let applied = parsed(&[TEA, GROUP, other].join("\n---\n"), Some("shop")).unwrap();
        assert_eq!(applied.namespace, "shop");
        let kinds: Vec<&Value> = applied.manifests.iter().map(|one| &one["kind"]).collect();
        assert_eq!(kinds, ["Subscription", "OperatorGroup"]);
        let places = applied.manifests.iter().map(|one| &one["metadata"]["namespace"]);
        assert!(places.into_iter().all(|place| place == "shop"));
    }

    #[rstest]
    #[case::of_the_manifest(Some("shop"), None, Ok("shop"))]
    #[case::the_same(Some("shop"), Some("shop"), Ok("shop"))]
    #[case::of_the_kubeconfig(None, None, Ok("default"))]
    #[case::another(Some("shop"), Some("cafe"), Err("leave one of the two out"))]
    fn the_namespace_is_that_of_the_manifest(
        #[case] own: Option<&str>,
        #[case] named: Option<&str>,
        #[case] expected: Result<&str, &str>,
    ) {
        let metadata = own.map(|own| format!("{{name: tea, namespace: {own}}}\nspec"));
        let text =
            TEA.replace("{name: tea}\nspec", metadata.as_deref().unwrap_or("{name: tea}\nspec"));
        let found = parsed(&text, named).map(|applied| applied.namespace);
        match expected {
            Ok(expected) => assert_eq!(found.unwrap(), expected),
            Err(expected) => assert!(found.unwrap_err().to_string().contains(expected)),
        }
    }

    #[rstest]
    #[case::none(GROUP.to_owned(), "there is no Subscription of operators.coreos.com/v1alpha1")]
    #[case::two(format!("{TEA}---{TEA}"), "there are 2 Subscriptions, and a plan is of one: Subscription/tea")]
    #[case::no_source(TEA.replace("source: kitchen, ", ""), "Subscription/tea")]
    #[case::empty_source(TEA.replace("kitchen", "''"), "Subscription/tea has no spec.source")]
    #[case::no_name(TEA.replace("{name: tea}", "{}"), "Subscription/? has no metadata.name")]
    #[case::no_yaml("{".to_owned(), "document 1")]
    fn what_is_no_subscription_is_refused(#[case] text: String, #[case] expected: &str) {
        let error = format!("{:#}", parsed(&text, None).unwrap_err());
        assert!(error.contains(expected), "{error}");
    }
}
