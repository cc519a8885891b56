//! Changes from the browser: each form of the console is posted as a browser does it, and only what was shown is done.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde_json::{from_value, json};

use super::console::{ConsoleResponse, Served};
use super::program::Program;
use super::{NEW, OLD, waiting_plan};
use crate::builders::{Bundle, Crd};
use crate::e2e::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::e2e::scenarios::upgrades::{kettles, stable};
use crate::wait;

type Fields = Vec<(String, String)>;

/// What a kettle is called that a user makes.
pub(in crate::e2e::scenarios) const MINE: &str = "mine";

/// Installs, approves, upgrades, creates a custom resource and removes, with what was shown and no other; a viewer gets
/// buttons that say why not, and the API server's refusal all the same.
pub(super) async fn acts(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let kind = kettles(&ctx);
    let [old, new] = ["1.0.0", "1.1.0"].map(|version| kettle(&ctx, version, &kind));
    let packages = stable(&[old, new.replaces(OLD)]);
    let content = ctx.content(&packages)?;
    let folder = format!("{}/kitchen={}", ctx.namespace, content.path().display());
    ctx.catalog("kitchen", &packages).await?;
    let flags = ["console", "--catalog", &folder, "--no-pull"];
    let served = Served::start(&program, &flags).await?;
    install(&ctx, &served).await?;
    let plan = waiting_plan(&ctx, "kettle").await?.metadata.name.unwrap_or_default();
    views(&ctx, &program, &flags).await?;
    approve(&served, &plan).await?;
    ctx.succeeded(OLD).await?;
    ctx.installed("kettle", OLD).await?;
    // Roles of its APIs come after a CSV has succeeded: a plan that was shown before is refused.
    ctx.until_idle().await?;
    let ready = r#"<button name="do" value="upgrade">"#;
    let page = served.has("/upgrade?name=kettle", &[ready, NEW]).await?;
    done(&served.send("/upgrade", &fields(&page, "upgrade-form")?).await?, "/operator?")?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    create(&ctx, &served).await?;
    remove(&ctx, &served).await
}

/// A version whose CSV has an example.
pub(in crate::e2e::scenarios) fn kettle(ctx: &TestContext, version: &str, kind: &Crd) -> Bundle {
    let example = json!([{"apiVersion": format!("{}.example.com/v1", ctx.namespace), "kind": "Kettle",
        "metadata": {"name": MINE}, "spec": {"litres": 2}}]);
    let csv = operator("kettle", version, kind).with(|csv| {
        let annotations = csv.metadata.annotations.get_or_insert_default();
        annotations.insert("alm-examples".to_owned(), example.to_string());
    });
    Bundle::new(version, &csv).provides(kind)
}

async fn install(ctx: &TestContext, served: &Served) -> Result<()> {
    let catalog = format!("{}/kitchen", ctx.namespace);
    let path = format!("/install?package=kettle&catalog={catalog}&version=1.0.0");
    let page = served.has(&path, &["id=\"install-form\"", "OwnNamespace", "stable"]).await?;
    let mut asked = fields(&page, "install-form")?;
    for (field, value) in [
        ("channel", "stable"),
        ("version", "1.0.0"),
        ("namespace", ctx.namespace.as_str()),
        ("approval", "Manual"),
        ("mode", "OwnNamespace"),
        ("config", "env:\r\n- name: TEA\r\n  value: green\r\n"),
        ("do", "plan"),
    ] {
        asked.push((field.to_owned(), value.to_owned()));
    }
    let shown = served.send("/install", &asked).await?;
    ensure!(shown.status == 200, "{}: {}", shown.status, shown.body);
    for part in ["Rights gained", "kind: Subscription", "name: TEA", OLD] {
        ensure!(shown.body.contains(part), "{part} is not in {}", shown.body);
    }
    let confirm = fields(&shown.body, "install-confirm")?;
    refused(served, "/install", &confirm).await?;
    // There is an OperatorGroup where the plan has shown that one is made.
    ctx.operator_group().await?;
    let changed = served.send("/install", &with(&confirm, "do", "install")).await?;
    ensure!(changed.status == 409, "{}: {}", changed.status, changed.body);
    ensure!(changed.body.contains("has changed since it was shown"), "{}", changed.body);
    let subscriptions: Api<Subscription> = ctx.api();
    ensure!(subscriptions.get_opt("kettle").await?.is_none(), "something else was installed");
    let confirm = with(&fields(&changed.body, "install-confirm")?, "do", "install");
    done(&served.send("/install", &confirm).await?, "/operator?")?;
    let made = subscriptions.get("kettle").await?;
    ensure!(
        made.spec.config == Some(json!({"env": [{"name": "TEA", "value": "green"}]}).into()),
        "{made:?}"
    );
    Ok(())
}

/// No token, that of another session, another origin, or none of the fields of a form.
async fn refused(served: &Served, path: &str, form: &Fields) -> Result<()> {
    let own = served.origin();
    let own = own.as_str();
    let without: Fields = form.iter().filter(|(name, _)| name != "csrf").cloned().collect();
    let other = with(&without, "csrf", &"0".repeat(64));
    for (what, origin, fields, expected) in [
        ("no token", own, without.clone(), 403),
        ("another token", own, other, 403),
        ("another origin", "http://rebound.example", form.clone(), 403),
        ("no origin", "null", form.clone(), 403),
        ("another field", own, with(form, "is_admin", "1"), 400),
        ("another value", own, with(form, "approval", "<script>"), 400),
        ("no hash", own, with(&with(form, "plan_hash", "0"), "do", "install"), 400),
    ] {
        let answer = served.post(path, origin, &fields).await?;
        ensure!(answer.status == expected, "{what}: {} {}", answer.status, answer.body);
        ensure!(!answer.body.contains("<script"), "{what}: {}", answer.body);
    }
    Ok(())
}

/// Who may only look sees why a button cannot be used; posted nevertheless, the form gets the API server's refusal.
async fn views(ctx: &TestContext, program: &Program, flags: &[&str]) -> Result<()> {
    let user = format!("{}-viewer", ctx.namespace);
    let role: Role = from_value(json!({"metadata": {"name": "viewer"}, "rules": [
        {"apiGroups": ["operators.coreos.com", "packages.operators.coreos.com", "", "apps"],
            "resources": ["*"], "verbs": ["get", "list", "watch"]}]}))?;
    ctx.create(&role).await?;
    let binding: RoleBinding = from_value(json!({"metadata": {"name": "viewer"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "viewer"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}))?;
    ctx.create(&binding).await?;
    let served = Served::start(program, &[flags, &["--as", user.as_str()]].concat()).await?;
    let why = "not allowed: you may not patch installplans.operators.coreos.com in namespace";
    let page = served.has("/plan?name=kettle", &["id=\"approve-form\"", " disabled ", why]).await?;
    ensure!(!page.contains(r#"<button name="do" value="approve">"#), "{page}");
    let forced = served.send("/plan", &fields(&page, "approve-form")?).await?;
    ensure!(forced.status == 403, "{}: {}", forced.status, forced.body);
    ensure!(forced.body.contains("cannot patch resource"), "{}", forced.body);
    let parts = ["id=\"act-upgrade\" disabled", "id=\"act-remove\" disabled", "you may not delete"];
    served.has("/operator?name=kettle", &parts).await.map(drop)
}

async fn approve(served: &Served, plan: &str) -> Result<()> {
    let page = served.has("/plan?name=kettle", &["id=\"approve-form\"", plan, OLD]).await?;
    let form = fields(&page, "approve-form")?;
    refused_approval(served, &form).await?;
    done(&served.send("/plan", &form).await?, "/operator?")
}

/// Another version of the object, or other contents, are not what was shown.
async fn refused_approval(served: &Served, form: &Fields) -> Result<()> {
    let zeros = "0".repeat(64);
    for (field, value) in [("resource_version", "1"), ("plan_hash", zeros.as_str())] {
        let answer = served.send("/plan", &with(form, field, value)).await?;
        ensure!(answer.status == 409, "{field}: {} {}", answer.status, answer.body);
        ensure!(answer.body.contains("has changed since it was shown"), "{}", answer.body);
    }
    let foreign = served.post("/plan", "http://rebound.example", form).await?;
    ensure!(foreign.status == 403, "{}: {}", foreign.status, foreign.body);
    Ok(())
}

async fn create(ctx: &TestContext, served: &Served) -> Result<()> {
    let page = served.has("/create?name=kettle", &["id=\"create-form\"", "litres: 2"]).await?;
    let form = fields(&page, "create-form")?;
    let object = |name: &str| {
        let api = format!("{}.example.com/v1", ctx.namespace);
        format!("apiVersion: {api}\nkind: Kettle\nmetadata:\n  name: {name}\nspec:\n  litres: 3\n")
    };
    let asked = |object: &str, step: &str| with(&with(&form, "object", object), "do", step);
    let bad = served.send("/create", &asked(&object("Not_A_Name"), "check")).await?;
    ensure!(bad.status == 422, "{}: {}", bad.status, bad.body);
    ensure!(bad.body.contains("name: Not_A_Name"), "what was typed is gone: {}", bad.body);
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n";
    for text in ["a: [", secret] {
        let other = served.send("/create", &asked(text, "create")).await?;
        ensure!(other.status == 400, "{}: {}", other.status, other.body);
    }
    let checked = served.send("/create", &asked(&object(MINE), "check")).await?;
    ensure!(
        checked.status == 200 && checked.body.contains("would create mine"),
        "{}",
        checked.body
    );
    let kettles = kettle_api(ctx);
    ensure!(kettles.get_opt(MINE).await?.is_none(), "a check has created it");
    done(&served.send("/create", &asked(&object(MINE), "create")).await?, "/operator?")?;
    let made = kettles.get(MINE).await?;
    ensure!(made.data["spec"] == json!({"litres": 3}), "{made:?}");
    Ok(())
}

/// Custom resources of the operator.
pub(in crate::e2e::scenarios) fn kettle_api(ctx: &TestContext) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk(&format!("{}.example.com", ctx.namespace), "v1", "Kettle");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "kettles");
    Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource)
}

async fn remove(ctx: &TestContext, served: &Served) -> Result<()> {
    let parts = ["id=\"remove-form\"", "There are 1 custom resources", NEW];
    let page = served.has("/remove?name=kettle", &parts).await?;
    let form = fields(&page, "remove-form")?;
    let kept = served.send("/remove", &with(&form, "operands", "abort")).await?;
    ensure!(kept.status == 400 && kept.body.contains("there are 1 custom"), "{}", kept.body);
    ctx.installed("kettle", NEW).await?;
    let removed = served.send("/remove", &with(&form, "operands", "delete")).await?;
    done(&removed, "/remove?")?;
    let report = removed.headers["location"].to_str()?;
    let gone = format!("ClusterServiceVersion {NEW} deleted");
    served.has(report, &["id=\"removed\"", &gone, "1 custom resources deleted", "stays"]).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), NEW).await?;
    wait::until_gone(&ctx.api::<Subscription>(), "kettle").await?;
    ensure!(kettle_api(ctx).get_opt(MINE).await?.is_none(), "the custom resource is left");
    Ok(())
}

/// What was done is shown by another page.
fn done(answer: &ConsoleResponse, path: &str) -> Result<()> {
    ensure!(answer.status == 303, "{}: {}", answer.status, answer.body);
    let location = answer.headers.get("location").context("it leads nowhere")?.to_str()?;
    ensure!(location.starts_with(path), "{location}");
    Ok(())
}

/// The hidden fields of a form.
fn fields(page: &str, form: &str) -> Result<Fields> {
    let (_, rest) = page.split_once(&format!("id=\"{form}\"")).context("the form is not there")?;
    let (form, _) = rest.split_once("</form>").context("the form has no end")?;
    let inputs = form.split("<input type=\"hidden\" name=\"").skip(1);
    let found: Fields = inputs
        .filter_map(|input| {
            let (name, rest) = input.split_once('"')?;
            let value = rest.strip_prefix(" value=\"")?.split('"').next()?;
            Some((name.to_owned(), plain(value)))
        })
        .collect();
    ensure!(found.iter().any(|(name, _)| name == "csrf"), "the form has no token: {form}");
    Ok(found)
}

/// A text without what HTML escapes.
fn plain(text: &str) -> String {
    [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")]
        .into_iter()
        .fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

/// The same form with another value of a field.
fn with(form: &Fields, field: &str, value: &str) -> Fields {
    let mut form: Fields = form.iter().filter(|(name, _)| name != field).cloned().collect();
    form.push((field.to_owned(), value.to_owned()));
    form
}

impl Served {
    fn origin(&self) -> String {
        format!("http://{}", self.host)
    }

    /// Posts a form as a page of the console does it.
    async fn send(&self, path: &str, fields: &Fields) -> Result<ConsoleResponse> {
        self.post(path, &self.origin(), fields).await
    }
}
