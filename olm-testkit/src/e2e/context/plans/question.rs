//! What `kubectl olm plan` is asked, and its answer.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_types::annotations::OURS;
use olm_types::api::{
    Approval, CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription,
};
use olm_types::conditions::subscription::{
    ANNOTATIONS_INVALID, INSTALL_PLAN_PENDING, RESOLUTION_FAILED, UPGRADE_HELD,
};
use olm_types::labels::COPIED_FROM;
use olm_types::reasons::event::REQUIRES_APPROVAL;
use olm_types::reasons::subscription::PAUSED;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::install_plans;
use super::verdict::list;
use crate::e2e::TestContext;
use crate::e2e::context::conditions;
use crate::e2e::scenarios::Program;
use crate::kubectl::manifest_file;
use crate::operators::OLM_NAMESPACE;
use crate::plan_check::images;

/// How long the operators get to end what they do in the namespace.
pub(super) const RESTS: Duration = Duration::from_secs(15);

/// How long a server of this machine takes at most to accept a connection.
const LISTENS: Duration = Duration::from_secs(1);

/// How often it is looked whether they have.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// What the program is asked.
#[derive(Debug)]
pub(super) struct Question {
    /// For a reader: `install kettle`.
    pub(super) about: String,
    /// The name of the Subscription.
    pub(super) subscription: String,
    words: Vec<String>,
    /// The address of a catalog that is about to change, and the folder with what it then holds.
    newer: Option<(String, PathBuf)>,
    /// The Subscription that is to be created.
    manifest: Option<Value>,
    /// Whether there is more in it than flags describe.
    is_more: bool,
}

/// What the program answers, and what was there then.
#[derive(Debug)]
pub(super) struct Answer {
    /// The plan, or why there is none.
    pub(super) plan: Result<Value, String>,
    /// Why it is not compared: such as what the operators do in the namespace anyway, as what they write next may
    /// belong to that.
    pub(super) not_compared: Option<&'static str>,
    /// The plans of other Subscriptions of the namespace for the same change of a catalog.
    pub(super) beside: Vec<Value>,
    /// The images of the namespace.
    pub(super) images: BTreeSet<String>,
}

impl Question {
    /// What a Subscription would install.
    pub(super) fn installation(subscription: &Subscription) -> Self {
        let spec = &subscription.spec;
        let is_annotated = subscription.annotations().keys().any(|key| key.starts_with(OURS));
        let is_more = is_annotated || spec.config.is_some();
        let source = format!("{}/{}", spec.source_namespace, spec.source);
        let mut words = vec!["install", &spec.name, "--source", &source];
        if let Some(channel) = spec.channel.as_deref().filter(|channel| !channel.is_empty()) {
            words.extend(["--channel", channel]);
        }
        if let Some(csv) = spec.starting_csv.as_deref().filter(|csv| !csv.is_empty()) {
            words.extend(["--version", csv]);
        }
        if spec.install_plan_approval == Some(Approval::Manual) {
            words.extend(["--approval", "Manual"]);
        }
        Self {
            about: format!("install {}", spec.name),
            subscription: subscription.name_any(),
            words: words.into_iter().map(str::to_owned).collect(),
            newer: None,
            manifest: serde_json::to_value(subscription).ok(),
            is_more,
        }
    }

    /// What becomes of an operator once the catalog at an address has other content.
    pub(super) fn upgrade(subscription: &str, address: &str, content: &Path) -> Self {
        Self {
            about: format!("upgrade {subscription}"),
            subscription: subscription.to_owned(),
            words: ["upgrade", subscription].map(str::to_owned).into(),
            newer: Some((address.to_owned(), content.to_owned())),
            manifest: None,
            is_more: false,
        }
    }

    /// The answer; what keeps the program, or the question, from one is no failure of the scenario.
    pub(super) async fn ask(&self, ctx: &TestContext) -> Answer {
        self.answer(ctx).await.unwrap_or_else(|error| Answer::without_plan(format!("{error:#}")))
    }

    /// The program runs only where its answer is compared: it takes its time, and a scenario that creates several
    /// Subscriptions one after the other is another one when the first is installed before the second is there.
    async fn answer(&self, ctx: &TestContext) -> Result<Answer> {
        if let Some(why) = still_at_work(ctx).await? {
            let not_compared = Some(why);
            return Ok(Answer { not_compared, ..Answer::without_plan(why.to_owned()) });
        }
        let images = images::there(&ctx.client, &ctx.namespace).await?;
        let flags = self.flags(ctx).await?;
        // An installation by flags makes the OperatorGroup that it needs.
        let groups = ctx.api::<OperatorGroup>().list(&ListParams::default()).await?;
        let is_applied = self.is_more || groups.items.is_empty();
        let manifest = self.manifest.as_ref().filter(|_| is_applied);
        let manifest = manifest.map(manifest_file).transpose()?;
        let path = manifest.as_ref().map(|file| file.path().display().to_string());
        let applied = path.iter().flat_map(|path| ["apply", "-f", path]);
        let words = self.words.iter().map(String::as_str).filter(|_| path.is_none());
        let words = applied.chain(words).chain(flags.iter().map(String::as_str));
        let words: Vec<&str> = ["--cache-dir", "", "plan"].into_iter().chain(words).collect();
        let ended = Program::new(ctx).await?.run(&words).await?;
        let why = || match ended.code {
            Some(1) => ended.errors.clone(),
            code => format!("exit code {code:?}: {}", ended.errors),
        };
        let plan = serde_json::from_str(&ended.printed).map_err(|_| why());
        Ok(Answer { plan, images, not_compared: None, beside: Vec::new() })
    }

    /// Where each catalog that the namespace sees is read.
    async fn flags(&self, ctx: &TestContext) -> Result<Vec<String>> {
        let mut flags = Vec::new();
        for namespace in BTreeSet::from([ctx.namespace.as_str(), OLM_NAMESPACE]) {
            let all: Api<CatalogSource> = Api::namespaced(ctx.client.clone(), namespace);
            for catalog in all.list(&ListParams::default()).await? {
                let place = self.place(catalog.spec.address.as_deref());
                // No user names one that does not answer.
                let Some(place) = place.filter(|place| is_readable(place)) else { continue };
                let flag = format!("{namespace}/{}={place}", catalog.name_any());
                flags.extend(["--catalog".to_owned(), flag]);
            }
        }
        flags.extend(["--olm-namespace", OLM_NAMESPACE, "-o", "json"].map(str::to_owned));
        Ok(flags)
    }

    /// A folder where the catalog is about to change, otherwise its address; none of catalogs in Pods.
    fn place(&self, address: Option<&str>) -> Option<String> {
        let address = address.filter(|address| !address.is_empty())?;
        Some(match &self.newer {
            Some((changed, content)) if changed == address => content.display().to_string(),
            _ => address.to_owned(),
        })
    }
}

impl Answer {
    /// None, and why.
    pub(super) fn without_plan(why: String) -> Self {
        Self { plan: Err(why), not_compared: None, beside: Vec::new(), images: BTreeSet::new() }
    }

    /// How many InstallPlans of the namespace were shown to wait for approval.
    pub(super) fn approvals(&self) -> usize {
        self.shown().into_iter().map(install_plans::waiting).sum()
    }

    /// What was not read of it.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &str> {
        let all = self.plan.iter().flat_map(|plan| list(&plan["unknown"]));
        all.filter_map(Value::as_str)
    }

    /// The plan, and those of other Subscriptions for the same change.
    pub(super) fn shown(&self) -> Vec<&Value> {
        self.plan.iter().chain(&self.beside).collect()
    }
}

/// Whether there is such a folder, or a server that listens.
fn is_readable(place: &str) -> bool {
    let listens = |address: SocketAddr| TcpStream::connect_timeout(&address, LISTENS).is_ok();
    Path::new(place).is_dir() || place.parse().is_ok_and(listens)
}

/// What the operators still do in the namespace of a scenario after a while, if anything.
async fn still_at_work(ctx: &TestContext) -> Result<Option<&'static str>> {
    let deadline = Instant::now() + RESTS;
    loop {
        match at_work(ctx).await? {
            Some(_) if Instant::now() < deadline => sleep(LOOK_AGAIN).await,
            found => return Ok(found),
        }
    }
}

/// What the operators do in the namespace of a scenario, if anything.
async fn at_work(ctx: &TestContext) -> Result<Option<&'static str>> {
    let subscriptions = ctx.api::<Subscription>().list(&ListParams::default()).await?;
    if subscriptions.iter().any(is_moving) {
        return Ok(Some("another Subscription of the namespace was under way"));
    }
    let own = ListParams::default().labels(&format!("!{COPIED_FROM}"));
    let csvs = ctx.api::<ClusterServiceVersion>().list(&own).await?;
    let is_over = |csv: &ClusterServiceVersion| {
        let phase = csv.status.as_ref().map(|status| status.phase);
        matches!(phase, Some(CsvPhase::Succeeded | CsvPhase::Failed))
    };
    Ok((!csvs.iter().all(is_over)).then_some("a CSV of the namespace was under way"))
}

/// Whether something is still to be installed that waits for no approval, by a Subscription that is neither paused nor
/// malformed.
fn is_moving(subscription: &Subscription) -> bool {
    let is_true = |type_: &str, reason: Option<&str>| {
        conditions(subscription).iter().any(|condition| {
            let has_reason = reason.is_none() || condition.reason.as_deref() == reason;
            condition.type_ == type_ && condition.status == "True" && has_reason
        })
    };
    let is_refused = is_true(RESOLUTION_FAILED, None);
    let waits = is_true(INSTALL_PLAN_PENDING, Some(REQUIRES_APPROVAL));
    let is_paused = is_true(UPGRADE_HELD, Some(PAUSED));
    let is_installed = subscription.status.as_ref().is_some_and(|status| {
        status.installed_csv.is_some() && status.installed_csv == status.current_csv
    });
    let is_malformed = is_true(ANNOTATIONS_INVALID, None);
    !(is_refused || is_installed || waits || is_paused || is_malformed)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_subscription_is_asked_about_as_it_is() {
        let subscription = json!({"metadata": {"name": "mine"}, "spec": {"name": "kettle", "source": "kitchen",
            "sourceNamespace": "ns", "channel": "stable", "startingCSV": "kettle.v1", "installPlanApproval": "Manual"}});
        let question =
            Question::installation(&serde_json::from_value::<Subscription>(subscription).unwrap());
        let expected = "install kettle --source ns/kitchen --channel stable --version kettle.v1 --approval Manual";
        assert_eq!(question.words.join(" "), expected);
        assert_eq!(question.subscription, "mine");
    }

    #[rstest]
    #[case::ours("olm-rs.dev/pin", true)]
    #[case::of_others("example.com/pin", false)]
    fn what_flags_do_not_describe_is_a_manifest(#[case] key: &str, #[case] expected: bool) {
        let subscription = json!({"metadata": {"name": "mine", "annotations": {key: "true"}}, "spec": {
            "name": "kettle", "source": "kitchen", "sourceNamespace": "ns"}});
        let subscription = serde_json::from_value::<Subscription>(subscription).unwrap();
        assert_eq!(Question::installation(&subscription).is_more, expected);
    }

    #[rstest]
    #[case(Some("127.0.0.1:1"), Some("/new"))]
    #[case(Some("127.0.0.1:2"), Some("127.0.0.1:2"))]
    #[case(Some(""), None)]
    #[case(None, None)]
    fn only_the_changed_catalog_is_read_from_its_folder(
        #[case] address: Option<&str>,
        #[case] expected: Option<&str>,
    ) {
        let question = Question::upgrade("mine", "127.0.0.1:1", Path::new("/new"));
        assert_eq!(question.place(address).as_deref(), expected);
    }

    #[rstest]
    #[case::new(json!(null), true)]
    #[case::installed(json!({"installedCSV": "a", "currentCSV": "a"}), false)]
    #[case::upgraded(json!({"installedCSV": "a", "currentCSV": "b"}), true)]
    #[case::refused(json!({"conditions": [{"type": "ResolutionFailed", "status": "True"}]}), false)]
    #[case::waits(json!({"currentCSV": "a", "conditions": [
        {"type": "InstallPlanPending", "status": "True", "reason": "RequiresApproval"}]}), false)]
    #[case::installs(json!({"currentCSV": "a", "conditions": [
        {"type": "InstallPlanPending", "status": "True", "reason": "Installing"}]}), true)]
    #[case::paused(json!({"conditions": [
        {"type": "UpgradeHeld", "status": "True", "reason": "Paused"}]}), false)]
    #[case::malformed(json!({"conditions": [{"type": "AnnotationsInvalid", "status": "True"}]}), false)]
    #[case::pinned(json!({"currentCSV": "a", "conditions": [
        {"type": "UpgradeHeld", "status": "True", "reason": "Pinned"}]}), true)]
    fn what_is_under_way_is_moving(#[case] status: Value, #[case] expected: bool) {
        let subscription = json!({"metadata": {"name": "mine"}, "spec": {}, "status": status});
        assert_eq!(is_moving(&serde_json::from_value(subscription).unwrap()), expected);
    }
}
