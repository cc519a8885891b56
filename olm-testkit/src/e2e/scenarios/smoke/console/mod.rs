//! The console in a Pod, as docs/console.md has users deploy it: their browsers are played over TLS.

mod deployed;
mod documented;

use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::leftovers::Leftovers;
use crate::e2e::TestContext;
use crate::e2e::scenarios::catalog_images;
use crate::e2e::scenarios::kubectl_olm::console_login::{LoginConsole, Users};
use crate::wait;
use deployed::{Deployed, NAME};

const NEW: &str = "kettle.v1.1.0";

/// What a catalog alone knows, which the console reads at its Service.
const UPGRADE: &str = "kettle.v1.1.0 replaces kettle.v1.0.0";

/// The console is deployed, shows who logs in what he may see, keeps tokens to itself, and is removed.
pub(super) async fn as_documented(ctx: Arc<TestContext>) -> Result<()> {
    let before = Leftovers::of(&ctx).await?;
    install(&ctx).await?;
    let users = Users::make(&ctx).await?;
    let deployed = Deployed::apply(&ctx).await?;
    is_reached(&ctx).await?;
    let cookie = shows(&ctx, &deployed.console(&ctx).await?, &users).await?;
    deployed.has_not_ended(&ctx).await?;
    let secret = cookie.split_once('=').context("the cookie has no value")?.1;
    deployed.has_not_logged(&ctx, &[&users.viewer, &users.stranger, secret]).await?;
    deployed.remove(&ctx).await?;
    before.are_all(&ctx).await
}

/// An operator of a catalog in a Pod: only such a catalog has a Service in the user's namespace.
async fn install(ctx: &TestContext) -> Result<()> {
    let image = catalog_images::push(ctx, &["1.0.0", "1.1.0"]).await?;
    catalog_images::serve(ctx, "shelf", &image).await?;
    ctx.operator_group().await?;
    ctx.subscribe("kettle", "shelf").await?;
    ctx.at_latest("kettle", NEW).await?;
    ctx.succeeded(NEW).await.map(drop)
}

/// Waits until its Service leads to it.
async fn is_reached(ctx: &TestContext) -> Result<()> {
    let namespace = ctx.olm_namespace()?;
    let path = format!("/api/v1/namespaces/{namespace}/services/https:{NAME}:https/proxy/healthz");
    wait::until_ok("answers at the Service of the console", || async {
        let request = http::Request::get(&path).body(Vec::new()).context("bad request")?;
        let answer = ctx.client.request_text(request).await?;
        ensure!(answer == "ok\n", "it answers {answer:?}");
        anyhow::Ok(())
    })
    .await
}

/// What users see, with and without a token; gives a cookie that leads to a session.
async fn shows(ctx: &TestContext, console: &LoginConsole, users: &Users) -> Result<String> {
    let first = console.get("/login", &[]).await?;
    ensure!(first.status == 200, "{}", first.status);
    ensure!(first.body.contains("<h1>Log in</h1>"), "{}", first.body);
    console.refuses(&users.viewer).await?;
    let wrong = console.enter("wrong", "/installed").await?;
    ensure!(wrong.status == 401, "{}", wrong.status);
    ensure!(wrong.body.contains("does not accept this token"), "{}", wrong.body);
    ensure!(!wrong.headers.contains_key("set-cookie"), "a wrong token begins a session");
    let page = |name: &str| format!("/{name}?namespace={}", ctx.namespace);
    let cookie = users.see(console, &page("installed"), "kettle").await?;
    let session = [("cookie", cookie.as_str())];
    console.has(&page("installed"), &session, "1.1.0").await?;
    console.has(&page("catalog"), &session, "name=kettle").await?;
    console.has(&format!("{}&name=kettle", page("package")), &session, UPGRADE).await?;
    let elsewhere = console.get("/installed?namespace=default", &session).await?;
    ensure!(elsewhere.status == 200, "{}", elsewhere.status);
    ensure!(elsewhere.body.contains("not allowed"), "{}", elsewhere.body);
    Ok(cookie)
}
