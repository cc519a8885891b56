//! `kubectl olm` where nothing answers, nothing may be read, and what is read is hostile.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use olm_types::api::{ClusterServiceVersion, Icon};
use tokio::time::Instant;

use super::plan::presented;
use super::program::{Ended, Program};
use crate::builders::{Bundle, csv};
use crate::e2e::TestContext;
use crate::e2e::scenarios::upgrades::stable;

/// How soon it is clear that nothing listens.
const SOON: Duration = Duration::from_secs(10);

/// What clears a terminal, colours it, and turns the direction of writing.
const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}tea\r\u{7}";

/// Each ends with a reason that a user can act on.
pub(super) async fn bad_input(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    nothing_answers(&program).await?;
    nothing_may_be_read(&ctx, &program).await?;
    hostile_package(&ctx, &program).await
}

/// An API server whose port is closed is an error, and no wait.
async fn nothing_answers(program: &Program) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port of the loopback device")?;
    let server = format!("https://{}", listener.local_addr()?);
    drop(listener);
    for command in [&["list"][..], &["doctor"], &["plan", "install", "kettle"], &["version"]] {
        let begun = Instant::now();
        let ended = program.run(&[command, &["--server", &server]].concat()).await?;
        ensure!(begun.elapsed() < SOON, "{command:?} took {:?}: {ended:?}", begun.elapsed());
        ended.failed_with(&format!("the API server at {server} cannot be reached"))?;
        ensure!(ended.printed.is_empty(), "{command:?}: {ended:?}");
    }
    Ok(())
}

/// Who may read nothing gets the names of what that is; nothing is printed as if it were empty.
async fn nothing_may_be_read(ctx: &TestContext, program: &Program) -> Result<()> {
    let user = format!("{}-stranger", ctx.namespace);
    let looks = [&["list"][..], &["doctor"], &["status", "kettle"], &["why", "kettle"]];
    let acts = [&["plan", "install", "kettle"][..], &["upgrade", "kettle", "--yes"]];
    for command in looks.into_iter().chain(acts) {
        let ended = program.run(&[command, &["--as", &user]].concat()).await?;
        ended.failed_with("cannot read Subscriptions")?;
        ended.failed_with(&format!("User \"{user}\" cannot list resource \"subscriptions\""))?;
        ensure!(ended.printed.is_empty(), "{command:?}: {ended:?}");
    }
    Ok(())
}

/// What an author writes about a package and its icon comes from a catalog, and never acts on a terminal.
async fn hostile_package(ctx: &TestContext, program: &Program) -> Result<()> {
    let hostile = csv("kettle.v1.0.0", "1.0.0").deployment("kettle", "default").with(write);
    ctx.catalog("kitchen", &stable(&[Bundle::new("1.0.0", &hostile)])).await?;
    let source = format!("{}/kitchen", ctx.namespace);
    let show = ["show", "kettle", "--source", &source];
    let shown = presented(program, &show).await?;
    is_clean(&shown, "description")?;
    for format in ["wide", "yaml", "json"] {
        is_clean(&program.run(&[&show[..], &["-o", format]].concat()).await?, "description")?;
    }
    let search = ["search", "kettle", "--source", "kitchen"];
    for format in ["table", "wide", "yaml", "json"] {
        is_clean(&program.run(&[&search[..], &["-o", format]].concat()).await?, "display name")?;
    }
    let found = program.json(&search).await?;
    let name = format!("display name {HOSTILE}");
    ensure!(found["items"][0]["displayName"] == name, "JSON keeps it: {found}");
    Ok(())
}

fn write(csv: &mut ClusterServiceVersion) {
    csv.spec.display_name = format!("display name {HOSTILE}");
    csv.spec.description = Some(format!("description {HOSTILE}\nsecond line {HOSTILE}"));
    let mediatype = format!("image/{HOSTILE}");
    csv.spec.icon = vec![Icon { base64data: HOSTILE.to_owned(), mediatype }];
}

/// It printed the text that an author wrote, without what acts.
fn is_clean(ended: &Ended, expected: &str) -> Result<()> {
    ensure!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    ensure!(ended.printed.contains(expected) && ended.printed.contains("tea"), "{ended:?}");
    let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    let both = [&ended.printed, &ended.errors];
    ensure!(!both.iter().any(|text| text.contains(acts)), "{ended:?}");
    Ok(())
}
