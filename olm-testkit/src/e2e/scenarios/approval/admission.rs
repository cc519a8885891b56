//! The admission policy of `deploy/policies`, bound to the namespace of the scenario.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};
use olm_types::api::Subscription;
use olm_types::version::VersionRange;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{NEW, OLD};
use crate::e2e::context::TestContext;
use crate::{builders, cluster, deploy, wait};

/// Ranges that olm-rs takes and refuses; the policy has to agree.
const RANGES: [&str; 35] = [
    ">=1.2.0 <2.0.0",
    ">=1.2, <2",
    "~1.2 || ^2.1.0",
    "1.x",
    "*",
    "<=*",
    ">1.x",
    ">=5.0.0-rc.0",
    "v1.2.3",
    "1.2.*",
    "!=1.2.3",
    "^0.0.3,",
    ">= 1.2 , < 3",
    "1||2",
    "<1.0.0||>=2.0.0",
    "",
    "latest",
    ">=",
    "1.0.0 - 2.0.0",
    "1.2.3.4",
    "1.x.3",
    "=>1",
    "!=1.2",
    ">*",
    ">=1.0.0 ||",
    "1.2.x.x",
    ">=1.0.0<2.0.0",
    "1.2.3-",
    "01.2.3",
    "^^1",
    "01",
    "1.02",
    "1.2.3-rc.01",
    "1.2.3-rc.10+b.01",
    ">=1.0.0-0 <2.0.0-x-1",
];

/// Annotations with other values than those that olm-rs reads, and part of the refusal.
const MISTAKES: [(&str, &str, &str); 9] = [
    ("olm-rs.dev/aprove", OLD, "is unknown"),
    (APPROVE, "Kettle", "has to be names of CSVs"),
    (APPROVE, "", "has to be names of CSVs"),
    (APPROVE, "a.v1,", "has to be names of CSVs"),
    (FIRST_INSTALL, "automatic", "has to be Automatic"),
    (PAUSE, "yes", "have to be true or false"),
    (PAUSE, "", "have to be true or false"),
    (PIN, "True", "have to be true or false"),
    (PIN, "true", "needs the name of a CSV"),
];

/// Annotations that could not be read are refused when they are written; whoever may not update InstallPlans
/// approves nothing by annotation; what does not change passes.
pub(super) async fn is_checked(ctx: Arc<TestContext>) -> Result<()> {
    // Written before there is a policy.
    let mut old = subscription(&ctx, "old", json!({PAUSE: "yes"}));
    old.finalizers_mut().push("example.com/keep".to_owned());
    ctx.create(&old).await?;
    bind(&ctx).await?;
    let played = play(&ctx).await;
    unbind(&ctx).await?;
    played
}

async fn play(ctx: &TestContext) -> Result<()> {
    enforced(ctx).await?;
    for (key, value, expected) in MISTAKES {
        let refusal = refusal(ctx, json!({key: value})).await?;
        ensure!(refusal.contains(expected), "{key}: {value:?}: {refusal:?}");
    }
    long_values_are_refused(ctx).await?;
    for range in RANGES {
        let refusal = refusal(ctx, json!({VERSION_RANGE: range})).await?;
        ensure!(
            refusal.is_empty() == VersionRange::parse(range).is_ok(),
            "{range:?}: olm-rs says {:?}, the policy {refusal:?}",
            VersionRange::parse(range).map(drop)
        );
    }
    let well = json!({APPROVE: format!("{OLD}, kettle.v1.1.0"), PAUSE: "false"});
    let refusal = refusal(ctx, well).await?;
    ensure!(refusal.is_empty(), "{refusal}");
    unchanged_passes(ctx).await?;
    asks_for_the_right(ctx).await
}

/// As olm-rs refuses them: a list, a name and a range.
async fn long_values_are_refused(ctx: &TestContext) -> Result<()> {
    let long_range = ">=1.0.0 ".repeat(200);
    let long_values = [
        (APPROVE, [OLD; 2_000].join(","), "253 bytes each and 16384 together"),
        (APPROVE, format!("{OLD}, {}", "a".repeat(254)), "253 bytes each and 16384 together"),
        (VERSION_RANGE, long_range, "has to be a range of versions"),
    ];
    for (key, value, expected) in long_values {
        let refusal = refusal(ctx, json!({key: value})).await?;
        ensure!(refusal.contains(expected), "{key}: {refusal:?}");
    }
    let longest = format!("{OLD}, {}", "a".repeat(253));
    let refusal = refusal(ctx, json!({ APPROVE: longest })).await?;
    ensure!(refusal.is_empty(), "{refusal}");
    Ok(())
}

/// A label, and a finalizer that goes, while an annotation is there that could not be written now.
async fn unchanged_passes(ctx: &TestContext) -> Result<()> {
    let label = json!({"metadata": {"labels": {"team": "kitchen"}}});
    ctx.edit::<Subscription>("old", label).await?;
    let subscriptions: Api<Subscription> = ctx.api();
    subscriptions.delete("old", &DeleteParams::default()).await.context("cannot delete")?;
    let finalizers = json!({"metadata": {"finalizers": null}});
    subscriptions
        .patch("old", &PatchParams::default(), &Patch::Merge(finalizers))
        .await
        .context("the finalizer stays")?;
    wait::until_gone(&subscriptions, "old").await
}

/// An editor of Subscriptions, before and after it may update InstallPlans.
async fn asks_for_the_right(ctx: &TestContext) -> Result<()> {
    ctx.create(&subscription(ctx, "mine", json!({PAUSE: "true"}))).await?;
    let declared = json!({PAUSE: "true", PIN: "true", APPROVE: OLD, FIRST_INSTALL: "Automatic"});
    let mut pinned = subscription(ctx, "pinned", declared);
    pinned.spec.starting_csv = Some(OLD.to_owned());
    pinned.finalizers_mut().push("example.com/keep".to_owned());
    ctx.create(&pinned).await?;
    let mut first = subscription(ctx, "first", json!({FIRST_INSTALL: "Automatic"}));
    first.spec.starting_csv = Some(OLD.to_owned());
    ctx.create(&first).await?;
    may(ctx, "subscriptions").await?;
    let client = cluster::client_as(&ctx.kubeconfig().await?, "editor").await?;
    let mine: Api<Subscription> = Api::namespaced(client, &ctx.namespace);
    let params = PatchParams { dry_run: true, ..PatchParams::default() };
    let annotate =
        |annotations: Value| Patch::Merge(json!({"metadata": {"annotations": annotations}}));
    let range = annotate(json!({VERSION_RANGE: "1.x"}));
    let allowed = || mine.patch("mine", &params, &range);
    wait::until_ok("may edit Subscriptions", allowed).await?;
    for (key, value) in [(APPROVE, OLD), (FIRST_INSTALL, "Automatic"), (PIN, "false")] {
        is_forbidden(&mine, "mine", json!({"metadata": {"annotations": {key: value}}})).await?;
    }
    // What approves already is neither moved nor taken away.
    for key in [APPROVE, FIRST_INSTALL, PIN] {
        is_forbidden(&mine, "pinned", json!({"metadata": {"annotations": {key: null}}})).await?;
    }
    is_forbidden(&mine, "pinned", json!({"spec": {"startingCSV": NEW}})).await?;
    // What is approved is a name: elsewhere it may be the name of something else.
    for field in ["name", "source", "sourceNamespace"] {
        is_forbidden(&mine, "pinned", json!({"spec": {field: "other"}})).await?;
        let moves = Patch::Merge(json!({"spec": {field: "other"}}));
        mine.patch("mine", &params, &moves)
            .await
            .with_context(|| format!("cannot move {field}"))?;
    }
    unchanged_approvals_pass(&mine).await?;
    on_creation(ctx, &mine).await?;
    of_a_first_install(ctx, &mine).await?;
    let channel = Patch::Merge(json!({"spec": {"channel": "fast"}}));
    mine.patch("pinned", &params, &channel).await.context("the channel cannot be changed")?;
    may(ctx, "installplans").await?;
    let moves = Patch::Merge(json!({"spec": {"startingCSV": NEW}}));
    wait::until_ok("may move a pin", || mine.patch("pinned", &params, &moves)).await?;
    let approve = annotate(json!({APPROVE: OLD}));
    let allowed = || mine.patch("mine", &params, &approve);
    wait::until_ok("may approve", allowed).await.map(drop)
}

/// Without the right, all else of a Subscription that approves can be changed, and its finalizers removed.
async fn unchanged_approvals_pass(mine: &Api<Subscription>) -> Result<()> {
    let note = json!({"metadata": {
        "labels": {"team": "kitchen"},
        "annotations": {"example.com/note": "x", VERSION_RANGE: "1.x", PAUSE: "false"},
    }});
    let params = PatchParams { dry_run: true, ..PatchParams::default() };
    mine.patch("pinned", &params, &Patch::Merge(note)).await.context("a note is refused")?;
    let finalizers = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let removed = mine.patch("pinned", &PatchParams::default(), &finalizers).await;
    removed.map(drop).context("the finalizer stays")
}

/// Without the right, what is installed first without approval stays what it was; later that is past.
async fn of_a_first_install(ctx: &TestContext, mine: &Api<Subscription>) -> Result<()> {
    let moves = [
        json!({"spec": {"startingCSV": NEW}}),
        json!({"spec": {"channel": "fast"}}),
        json!({"spec": {"channel": null}}),
        json!({"metadata": {"annotations": {VERSION_RANGE: "1.x"}}}),
    ];
    for patch in &moves {
        is_forbidden(mine, "first", patch.clone()).await?;
    }
    let params = PatchParams { dry_run: true, ..PatchParams::default() };
    let note = json!({"metadata": {"annotations": {"example.com/note": "x", PAUSE: "true"}}});
    let noted = mine.patch("first", &params, &Patch::Merge(note)).await;
    noted.context("a note is refused")?;
    let installed = json!({"installedCSV": OLD, "lastUpdated": "2026-01-01T00:00:00Z"});
    let installed = Patch::Merge(json!({"status": installed}));
    let subscriptions: Api<Subscription> = ctx.api();
    subscriptions.patch_status("first", &PatchParams::default(), &installed).await?;
    for patch in &moves {
        let moved = mine.patch("first", &params, &Patch::Merge(patch)).await;
        moved.with_context(|| format!("{patch} is refused"))?;
    }
    Ok(())
}

/// Without the right, a new Subscription approves nothing either.
async fn on_creation(ctx: &TestContext, mine: &Api<Subscription>) -> Result<()> {
    let params = PostParams { dry_run: true, ..PostParams::default() };
    for (key, value) in [(APPROVE, OLD), (FIRST_INSTALL, "Automatic"), (PIN, "true")] {
        let mut new = subscription(ctx, "new", json!({key: value}));
        new.spec.starting_csv = Some(OLD.to_owned());
        lacks_the_right(&format!("new with {key}"), mine.create(&params, &new).await)?;
    }
    for annotations in [json!({}), json!({PAUSE: "true"}), json!({VERSION_RANGE: "1.x"})] {
        let new = subscription(ctx, "new", annotations.clone());
        let made = mine.create(&params, &new).await;
        made.with_context(|| format!("{annotations} is refused"))?;
    }
    Ok(())
}

/// The API server refuses the patch, for the right that is missing.
async fn is_forbidden(mine: &Api<Subscription>, name: &str, patch: Value) -> Result<()> {
    let params = PatchParams { dry_run: true, ..PatchParams::default() };
    let answer = mine.patch(name, &params, &Patch::Merge(&patch)).await;
    lacks_the_right(&patch.to_string(), answer)
}

fn lacks_the_right(what: &str, answer: kube::Result<Subscription>) -> Result<()> {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 403 => {
            ensure!(status.message.contains("needs the right"), "{what}: {}", status.message);
            Ok(())
        }
        other => bail!("{what}: {other:?}"),
    }
}

/// Gives the user `editor` these objects.
async fn may(ctx: &TestContext, resource: &str) -> Result<()> {
    let name = format!("edit-{resource}");
    let role: Role = serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": ctx.namespace},
        "rules": [{"apiGroups": ["operators.coreos.com"], "resources": [resource],
            "verbs": ["get", "create", "update", "patch"]}],
    }))?;
    ctx.create(&role).await?;
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": ctx.namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "editor"}],
    }))?;
    ctx.create(&binding).await.map(drop)
}

/// What the API server says to a Subscription with these annotations; nothing when it takes it.
async fn refusal(ctx: &TestContext, annotations: Value) -> Result<String> {
    let params = PostParams { dry_run: true, ..PostParams::default() };
    match ctx.api().create(&params, &subscription(ctx, "tried", annotations)).await {
        Ok(_) => Ok(String::new()),
        Err(kube::Error::Api(status)) => Ok(status.message.clone()),
        Err(error) => Err(error).context("cannot try"),
    }
}

fn subscription(ctx: &TestContext, name: &str, annotations: Value) -> Subscription {
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.metadata.name = Some(name.to_owned());
    subscription.metadata.annotations = serde_json::from_value(annotations).ok();
    subscription
}

/// A policy counts some moments after it was written.
async fn enforced(ctx: &TestContext) -> Result<()> {
    let refused = || async {
        let refusal = refusal(ctx, json!({PAUSE: "yes"})).await?;
        ensure!(!refusal.is_empty(), "the policy is not enforced yet");
        anyhow::Ok(())
    };
    wait::until_ok("is enforced", refused).await
}

/// The policy and its binding as they are shipped.
fn shipped() -> Result<[Value; 2]> {
    let path = deploy::folder().join("policies/subscription-annotations.yaml");
    let text = std::fs::read_to_string(path).context("there is no policy")?;
    let documents = yaml_serde::Deserializer::from_str(&text).map(Value::deserialize);
    let documents: Vec<Value> = documents.collect::<Result<_, _>>()?;
    documents.try_into().map_err(|all| anyhow!("not a policy and its binding: {all:?}"))
}

async fn bind(ctx: &TestContext) -> Result<()> {
    let [policy, mut binding] = shipped()?;
    binding["metadata"]["name"] = json!(ctx.namespace);
    binding["spec"]["matchResources"] = json!({"namespaceSelector": {"matchLabels": {
        "kubernetes.io/metadata.name": ctx.namespace,
    }}});
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(policy)?;
    let binding: ValidatingAdmissionPolicyBinding = serde_json::from_value(binding)?;
    let apply = PatchParams::apply("scenario").force();
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(ctx.client.clone());
    policies.patch(&policy.name_any(), &apply, &Patch::Apply(&policy)).await?;
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(ctx.client.clone());
    bindings.patch(&binding.name_any(), &apply, &Patch::Apply(&binding)).await?;
    let well = |policy: &ValidatingAdmissionPolicy| {
        let status = policy.status.as_ref();
        status.is_some_and(|status| status.observed_generation == policy.metadata.generation)
    };
    let policy = wait::until(&policies, &policy.name_any(), "be type-checked", well).await?;
    let checked = policy.status.and_then(|status| status.type_checking);
    let warnings = checked.and_then(|checked| checked.expression_warnings).unwrap_or_default();
    ensure!(warnings.is_empty(), "{warnings:?}");
    Ok(())
}

async fn unbind(ctx: &TestContext) -> Result<()> {
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(ctx.client.clone());
    bindings.delete(&ctx.namespace, &DeleteParams::default()).await.map(drop)?;
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(ctx.client.clone());
    let name = "subscription-annotations.olm-rs.dev";
    policies.delete(name, &DeleteParams::default()).await.map(drop).context("the policy stays")
}
