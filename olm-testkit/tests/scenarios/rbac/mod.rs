//! Our algebra of rules against the authorizer of a real API server.
//!
//! Accounts get random roles through random bindings. For random rules we say what each account
//! may do, and ask the API server: about every single request that the rule stands for, and whether
//! the account may give the rule away.

mod escalation;
mod generate;
mod oracle;
mod server;

use std::sync::Arc;

use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::rbac::v1::PolicyRule;
use olm_rbac::{Account, Claimant, ComparisonBudget, Grants, Scope};
use olm_testkit::e2e::TestContext;

use generate::{Generator, Named};
use oracle::Oracle;
use server::Server;

/// Accounts with random roles.
const ACCOUNTS: usize = 40;

/// Rules that are asked about for each account.
const RULES: usize = 12;

/// Questions that are under way at once.
const AT_ONCE: usize = 16;

/// Fewest answers of each sort, so that a comparison shows something.
const LEAST: usize = 30;

/// A question about an account, and our answer.
struct RightsQuestion {
    account: Account,
    rule: PolicyRule,
    scope: Scope,
    ours: bool,
}

/// What we say about rules is what the API server says about each request.
pub async fn agrees_with_the_api_server(ctx: Arc<TestContext>) -> Result<()> {
    let mut generator = Generator::new();
    let mut server = Server::new(&ctx);
    for index in 0..ACCOUNTS {
        server.grant(&format!("sa-{index}"), generator.holdings()?).await?;
    }
    let oracle = Oracle::new(&ctx);
    server.until_in_force(&oracle).await?;
    let scopes = [Scope::Namespace, Scope::Cluster];
    let questions = questions(&ctx, &server, &scopes, || generator.wanted())?;
    compare(&questions, |question| oracle.allows(&question.account, &question.rule, question.scope))
        .await
}

/// Who holds what a rule grants may give it away, and no other account.
pub async fn agrees_about_escalation(ctx: Arc<TestContext>) -> Result<()> {
    let mut generator = Generator::new();
    let mut server = Server::new(&ctx);
    for index in 0..ACCOUNTS {
        let mut holdings = generator.holdings()?;
        // A user who is impersonated is in the groups of service accounts, too.
        holdings.retain(|holding| !matches!(holding.subject, Named::Group));
        holdings.push(Generator::makes_roles());
        server.grant(&format!("sa-{index}"), holdings).await?;
    }
    server.until_in_force(&Oracle::new(&ctx)).await?;
    let questions = questions(&ctx, &server, &[Scope::Namespace], || generator.granted())?;
    compare(&questions, |question| {
        escalation::may_grant(&ctx.client, &question.account, &question.rule)
    })
    .await
}

fn questions(
    ctx: &TestContext,
    server: &Server,
    scopes: &[Scope],
    mut rule: impl FnMut() -> Result<PolicyRule>,
) -> Result<Vec<RightsQuestion>> {
    let mut questions = Vec::new();
    for index in 0..ACCOUNTS {
        let account = Account::new(&ctx.namespace, &format!("sa-{index}"));
        let grants = Grants::gather(server, &account, &ctx.namespace, &no_account());
        for _ in 0..RULES {
            let rule = rule()?;
            for &scope in scopes {
                let ours = grants.satisfy(scope, &rule, &ComparisonBudget::default())?;
                questions.push(RightsQuestion {
                    account: account.clone(),
                    rule: rule.clone(),
                    scope,
                    ours,
                });
            }
        }
    }
    let granted = questions.iter().filter(|question| question.ours).count();
    let refused = questions.len() - granted;
    ensure!(granted >= LEAST && refused >= LEAST, "{granted} granted and {refused} refused");
    Ok(questions)
}

/// Fails at the first question to which the API server has another answer.
async fn compare<'q, F>(
    questions: &'q [RightsQuestion],
    ask: impl Fn(&'q RightsQuestion) -> F,
) -> Result<()>
where
    F: Future<Output = Result<bool>>,
{
    stream::iter(questions)
        .map(|question| {
            let asked = ask(question);
            async move {
                let (ours, theirs) = (question.ours, asked.await?);
                let RightsQuestion { account, rule, scope, .. } = question;
                ensure!(
                    ours == theirs,
                    "{}: ours {ours}, the API server {theirs}, {scope:?}\n{rule:?}",
                    account.name,
                );
                Ok(())
            }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await
}

/// A claimant that owns nothing and to whom nothing is hidden.
fn no_account() -> Claimant {
    let text = String::new;
    Claimant { version: text(), kind: text(), name: text(), uid: text(), replaced: Vec::new() }
}
