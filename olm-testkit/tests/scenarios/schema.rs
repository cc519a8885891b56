//! Whether an object is valid under a CRD: our check and the one of a real API server say the same,
//! in the same words.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use olm_lifecycle::crd::{CrdError, Owners, Upgrade};
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

/// Requests to the API server under way at once.
const AT_ONCE: usize = 8;

/// Objects of the random part.
const RANDOM: usize = 300;

/// Every keyword with values on both sides of it, then random objects.
pub async fn agrees_with_the_api_server(ctx: Arc<TestContext>) -> Result<()> {
    let definition = definition(&ctx);
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let object: CustomResourceDefinition = serde_json::from_value(definition.clone())?;
    crds.create(&PostParams::default(), &object).await.context("the CRD is refused")?;
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    wait::until(&crds, name, "be served", |crd: &CustomResourceDefinition| {
        let conditions = crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.into_iter().any(|c| c.type_ == "Established" && c.status == "True")
    })
    .await?;
    let table = rows()
        .into_iter()
        .flat_map(|(name, _, values)| values.into_iter().map(move |value| json!({ name: value })));
    let specs: Vec<Value> = table.chain(random()).collect();
    let count = specs.len();
    let (ctx, definition) = (&ctx, &definition);
    let checks = stream::iter(specs).map(|spec| compare(ctx, definition, spec));
    let invalid: Vec<bool> = checks.buffer_unordered(AT_ONCE).try_collect().await?;
    let refused = invalid.iter().filter(|invalid| **invalid).count();
    ensure!(refused > rows().len() && refused < count, "{refused} of {count} are invalid");
    eprintln!("  {count} objects, of which {refused} are invalid: both say the same");
    Ok(())
}

/// Name of a field, its schema, values for it.
type Row = (&'static str, Value, Vec<Value>);

fn rows() -> Vec<Row> {
    [strings(), formats(), numbers(), parts(), alternatives()].concat()
}

fn strings() -> Vec<Row> {
    let string = |more: Value| with(json!({"type": "string"}), more);
    let long = json!({"minLength": 2, "maxLength": 3});
    vec![
        ("str", string(json!({})), values(json!(["a", 1, true, [], {}]))),
        ("len", string(long), values(json!(["a", "äö", "äöüß"]))),
        ("pattern", string(json!({"pattern": "^[a-z]+$"})), values(json!(["abc", "A", ""]))),
        ("choice", string(json!({"enum": ["a", "b"]})), values(json!(["a", "c"]))),
        ("nullable", string(json!({"nullable": true})), values(json!([null, "a"]))),
    ]
}

fn formats() -> Vec<Row> {
    let format = |name: &str| json!({"type": "string", "format": name});
    let uuid = "01234567-89ab-cdef-0123-456789abcdef";
    vec![
        ("date", format("date-time"), values(json!(["2026-01-02T03:04:05Z", "yesterday"]))),
        ("ipv4", format("ipv4"), values(json!(["10.0.0.1", "10.0.0"]))),
        ("cidr", format("cidr"), values(json!(["10.0.0.0/8", "10.0.0.0"]))),
        ("byte", format("byte"), values(json!(["aGk=", "?"]))),
        ("uuid", format("uuid"), values(json!([uuid, "x"]))),
        ("uri", format("uri"), values(json!(["https://example.com/a", "nowhere"]))),
        ("moon", format("moon"), values(json!(["anything"]))),
    ]
}

fn numbers() -> Vec<Row> {
    let integer = |more: Value| with(json!({"type": "integer"}), more);
    let number = |more: Value| with(json!({"type": "number"}), more);
    let range = json!({"minimum": 3, "maximum": 5});
    let open = json!({"minimum": 3, "exclusiveMinimum": true});
    let broken = json!({"minimum": 0.5, "maximum": 2.5});
    vec![
        ("int", integer(json!({})), values(json!([1, 1.5, 2.0, "1", -7]))),
        ("int32", integer(json!({"format": "int32"})), values(json!([1, 9_000_000_000_i64, "x"]))),
        ("range", integer(range), values(json!([2, 3, 5, 6]))),
        ("open", integer(open), values(json!([3, 4]))),
        ("multiple", integer(json!({"multipleOf": 5})), values(json!([7, 10]))),
        ("num", number(broken), values(json!([0.25, 1, 3.5, 1e7]))),
        ("ratio", number(json!({"multipleOf": 0.1})), values(json!([0.3, 0.25]))),
    ]
}

fn parts() -> Vec<Row> {
    let list = json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}});
    let of_integers = json!({"type": "integer"});
    let map = json!({"type": "object", "additionalProperties": of_integers, "maxProperties": 1});
    let keeping = "x-kubernetes-preserve-unknown-fields";
    let some = json!({"type": "object", "minProperties": 1, keeping: true});
    let text = json!({"type": "string"});
    let nested = json!({"type": "object", "required": ["a"], "properties": {"a": text}});
    vec![
        ("list", list, values(json!([[], [1], [1, "a"], [1, 2, 3]]))),
        ("map", map, values(json!([{"a": 1}, {"a": "x"}, {"a": 1, "b": 2}]))),
        ("some", some, values(json!([{}, {"a": 1}]))),
        ("nested", nested, values(json!([{}, {"a": 1}, {"a": "x"}]))),
    ]
}

fn alternatives() -> Vec<Row> {
    let integer = |more: Value| with(json!({"type": "integer"}), more);
    let either = json!({"x-kubernetes-int-or-string": true});
    let both = json!([{"type": "integer"}, {"type": "string"}]);
    let percent = with(either.clone(), json!({"anyOf": both, "pattern": "^[0-9]+%$"}));
    let fields = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
    let required = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let any = json!({"type": "object", "properties": fields, "anyOf": required});
    let one = json!({"oneOf": [{"minimum": 1}, {"minimum": 5}]});
    let every = json!({"allOf": [{"minimum": 1}, {"maximum": 5}]});
    vec![
        ("either", either, values(json!([1, "5%", 1.5, []]))),
        ("percent", percent, values(json!([1, "5%", "x", {}]))),
        ("any", any, values(json!([{}, {"a": 1}, {"b": "x"}]))),
        ("one", integer(one), values(json!([0, 1, 6]))),
        ("every", integer(every), values(json!([0, 3, 6]))),
        ("never", integer(json!({"not": {"minimum": 5}})), values(json!([3, 6]))),
    ]
}

fn values(values: Value) -> Vec<Value> {
    match values {
        Value::Array(values) => values,
        value => vec![value],
    }
}

fn with(mut schema: Value, more: Value) -> Value {
    if let (Some(schema), Some(more)) = (schema.as_object_mut(), more.as_object()) {
        schema.extend(more.clone());
    }
    schema
}

/// Objects with some of the fields, and any of the values in any of them.
fn random() -> Vec<Value> {
    let (names, values): (Vec<_>, Vec<_>) =
        rows().into_iter().map(|(name, _, values)| (name, values)).unzip();
    let values: Vec<Value> = values.into_iter().flatten().collect();
    let field = (proptest::sample::select(names), proptest::sample::select(values));
    let object = proptest::collection::vec(field, 1..4);
    let mut runner = TestRunner::deterministic();
    let mut draw = || {
        let fields = object.new_tree(&mut runner).map(|tree| tree.current()).unwrap_or_default();
        // An API server takes a null out of a field that cannot be null before it looks at it.
        let kept =
            fields.into_iter().filter(|(name, value)| !value.is_null() || *name == "nullable");
        kept.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
    };
    (0..RANDOM).map(|_| Value::Object(draw())).collect()
}

fn definition(ctx: &TestContext) -> Value {
    let group = format!("{}.example.com", ctx.namespace);
    let fields: Map<String, Value> =
        rows().into_iter().map(|(name, schema, _)| (name.to_owned(), schema)).collect();
    let spec = json!({"type": "object", "properties": fields});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({
        "metadata": {"name": format!("samples.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"kind": "Sample", "plural": "samples"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

/// Whether both call the object invalid.
async fn compare(ctx: &TestContext, definition: &Value, spec: Value) -> Result<bool> {
    let object = json!({
        "apiVersion": format!("{}.example.com/v1", ctx.namespace), "kind": "Sample",
        "metadata": {"name": "sample", "namespace": ctx.namespace}, "spec": spec,
    });
    let theirs = theirs(ctx, &object).await?;
    let ours = ours(definition, &object)?;
    ensure!(ours == theirs, "{spec}\n  ours   {ours:#?}\n  theirs {theirs:#?}");
    Ok(!ours.is_empty())
}

/// What the API server says of a create that it does not carry out, sorted.
async fn theirs(ctx: &TestContext, object: &Value) -> Result<Vec<String>> {
    let gvk = GroupVersionKind::gvk(&format!("{}.example.com", ctx.namespace), "v1", "Sample");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "samples");
    let api: Api<DynamicObject> =
        Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource);
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    let status = match api.create(&dry_run, &serde_json::from_value(object.clone())?).await {
        Ok(_) => return Ok(Vec::new()),
        Err(kube::Error::Api(status)) => status,
        Err(error) => return Err(error).context("the API server does not answer"),
    };
    ensure!(status.code == 422, "{status:?}");
    let causes = status.details.iter().flat_map(|details| &details.causes);
    Ok(sorted(causes.map(|cause| match cause.field.as_str() {
        "" | "<nil>" => cause.message.clone(),
        field => format!("{field}: {}", cause.message),
    })))
}

/// What our check says, without the `[]` in front of fields, sorted.
fn ours(definition: &Value, object: &Value) -> Result<Vec<String>> {
    let mut upgrade = Upgrade::begin(definition.clone(), definition, &Owners::default())?;
    let findings = match upgrade.page(std::slice::from_ref(object), None) {
        Ok(()) => return Ok(Vec::new()),
        Err(CrdError::TooRestrictive { findings, .. }) => findings,
        Err(error) => bail!("{error}"),
    };
    let inner = findings.strip_prefix('[').filter(|rest| rest.starts_with('['));
    let inner = inner.and_then(|rest| rest.strip_suffix(']')).unwrap_or(&findings);
    let parts = inner.split(", []").map(|part| part.strip_prefix("[]").unwrap_or(part));
    Ok(sorted(parts.map(|part| match part.strip_prefix(": ") {
        Some(whole) => whole.to_owned(),
        None => part.trim_start_matches('.').to_owned(),
    })))
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<_> = texts.collect();
    texts.sort();
    texts
}
