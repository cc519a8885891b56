//! Two Subscriptions that need an operator in common, each with what it declares: a plan that brings it goes when
//! each of the two lets it, and so does a later upgrade of what they share.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};
use olm_types::api::{ClusterServiceVersion, InstallPlan, Subscription};
use serde_json::json;

use super::super::apart::{kind, manual, user, waiting};
use super::super::creations::Creations;
use crate::builders::{Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::wait;

/// Two Subscriptions, `…a` and `…b`, and what both need, `…wire`.
struct Pair {
    name: &'static str,
    a: SubscriptionSettings,
    b: SubscriptionSettings,
    gets: Gets,
}

/// What a Subscription says.
#[derive(Clone, Copy)]
struct SubscriptionSettings {
    is_automatic: bool,
    says: &'static [(&'static str, &'static str)],
}

enum Gets {
    /// Nothing: the plan waits, and says this.
    Nothing(&'static str),
    /// What has these ends of names; an upgrade of what they share comes.
    AndUpgrades(&'static [&'static str]),
    /// The same; an upgrade of what they share waits.
    AndWaits(&'static [&'static str]),
    /// The same; no upgrade of what they share is planned.
    AndStays(&'static [&'static str]),
}

const AUTOMATIC: SubscriptionSettings = SubscriptionSettings { is_automatic: true, says: &[] };
const MANUAL: SubscriptionSettings = manually(&[]);
const PINNED: SubscriptionSettings = manually(&[(PIN, "true")]);
const FREE: SubscriptionSettings = manually(&[(FIRST_INSTALL, "Automatic")]);
const PAUSED: SubscriptionSettings = manually(&[(PAUSE, "true")]);

const ALL: &[&str] = &["a", "b", "wire"];
const OTHERS: &[&str] = &["b", "wire"];

const fn manually(says: &'static [(&'static str, &'static str)]) -> SubscriptionSettings {
    SubscriptionSettings { is_automatic: false, says }
}

const PAIRS: [Pair; 11] = [
    Pair {
        name: "pin",
        a: PINNED,
        b: MANUAL,
        gets: Gets::Nothing("its Subscriptions are pinned to pina.v1.0.0"),
    },
    Pair {
        name: "first",
        a: FREE,
        b: MANUAL,
        gets: Gets::Nothing("approval of what Subscription firstb asks for"),
    },
    Pair {
        name: "one",
        a: manually(&[(APPROVE, "onea.v1.0.0, oneb.v1.0.0, onewire.v1.0.0")]),
        b: MANUAL,
        gets: Gets::Nothing("Subscription oneb needs oneb.v1.0.0, onewire.v1.0.0 as well"),
    },
    Pair {
        name: "each",
        a: manually(&[(APPROVE, "eacha.v1.0.0, eachwire.v1.0.0")]),
        b: manually(&[(APPROVE, "eachb.v1.0.0, eachwire.v1.0.0")]),
        gets: Gets::AndWaits(ALL),
    },
    Pair { name: "both", a: FREE, b: FREE, gets: Gets::AndWaits(ALL) },
    Pair { name: "either", a: PINNED, b: FREE, gets: Gets::AndWaits(ALL) },
    Pair { name: "auto", a: AUTOMATIC, b: FREE, gets: Gets::AndWaits(ALL) },
    // What is not installed for the first one is not asked about.
    Pair { name: "pause", a: PAUSED, b: AUTOMATIC, gets: Gets::AndUpgrades(OTHERS) },
    Pair {
        name: "hush",
        a: PAUSED,
        b: manually(&[(APPROVE, "hushb.v1.0.0, hushwire.v1.0.0")]),
        gets: Gets::AndWaits(OTHERS),
    },
    Pair {
        name: "range",
        a: manually(&[(VERSION_RANGE, ">=9.0.0")]),
        b: FREE,
        gets: Gets::AndWaits(OTHERS),
    },
    // The first one is paused when all is installed, and what it needs with it.
    Pair { name: "later", a: AUTOMATIC, b: AUTOMATIC, gets: Gets::AndStays(ALL) },
];

/// What is there at first, and when there is a newer version of what they share.
pub(super) async fn pairs_in_common(ctx: Arc<TestContext>) -> Result<()> {
    let mut created = Creations::begin(&ctx)?;
    ctx.operator_group().await?;
    for pair in &PAIRS {
        ctx.create(&subscription(&ctx, &pair.named("a"), pair.a)).await?;
        ctx.create(&subscription(&ctx, &pair.named("b"), pair.b)).await?;
    }
    // Only now, so that all are resolved at once.
    ctx.catalog("kitchen", &content(&ctx, false)).await?;
    for pair in &PAIRS {
        comes(&ctx, pair).await.with_context(|| format!("pair {}", pair.name))?;
    }
    check(&ctx, &mut created, false).await?;

    let pause = json!({"metadata": {"annotations": {PAUSE: "true"}}});
    ctx.edit::<Subscription>("latera", pause).await?;
    ctx.condition("latera", "UpgradeHeld", "True", "Paused").await?;
    ctx.publish("kitchen", &content(&ctx, true)).await?;
    for pair in &PAIRS {
        goes_on(&ctx, pair).await.with_context(|| format!("upgrade of pair {}", pair.name))?;
    }
    check(&ctx, &mut created, true).await
}

/// Waits until a pair has what it gets.
async fn comes(ctx: &TestContext, pair: &Pair) -> Result<()> {
    let Gets::Nothing(text) = pair.gets else {
        for end in pair.gets.ends() {
            ctx.succeeded(&pair.csv(end, "1.0.0")).await?;
        }
        return Ok(());
    };
    let plan = waiting(ctx, &pair.named("b")).await?.name_any();
    let says = |plan: &InstallPlan| {
        let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|message| message.contains(text))
    };
    wait::until(&ctx.api(), &plan, &format!("say {text:?}"), says).await.map(drop)
}

/// Waits until a newer version of what a pair shares is there, or waits.
async fn goes_on(ctx: &TestContext, pair: &Pair) -> Result<()> {
    let shared = format!("{}-stable-kitchen-{}", pair.named("wire"), ctx.namespace);
    let newer = pair.csv("wire", "1.1.0");
    match pair.gets {
        Gets::Nothing(_) => Ok(()),
        Gets::AndUpgrades(_) => {
            ctx.succeeded(&newer).await?;
            ctx.installed(&shared, &newer).await?;
            wait::until_gone::<ClusterServiceVersion>(&ctx.api(), &pair.csv("wire", "1.0.0")).await
        }
        Gets::AndWaits(_) => {
            let plan = waiting(ctx, &shared).await?;
            let names = &plan.spec.cluster_service_version_names;
            ensure!(names == &[newer], "{} brings {names:?}", plan.name_any());
            ensure!(plan.waits_for_approval(), "it is approved: {:?}", plan.spec);
            Ok(())
        }
        Gets::AndStays(_) => {
            ctx.until_idle().await?;
            let plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
            let brings =
                |plan: &&InstallPlan| plan.spec.cluster_service_version_names.contains(&newer);
            match plans.iter().find(brings) {
                Some(plan) => bail!("{} brings {newer}", plan.name_any()),
                None => Ok(()),
            }
        }
    }
}

/// At rest there is what was expected and nothing else, and all of it was approved before it was created.
async fn check(ctx: &TestContext, created: &mut Creations, is_newer: bool) -> Result<()> {
    ctx.until_idle().await?;
    let csvs: Vec<ClusterServiceVersion> = ctx.api().list(&ListParams::default()).await?.items;
    let found: BTreeSet<String> = csvs.iter().map(ResourceExt::name_any).collect();
    let expected: BTreeSet<String> =
        PAIRS.iter().flat_map(|pair| pair.installed(is_newer)).collect();
    ensure!(found == expected, "there is {found:?}, not {expected:?}");
    let plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    created.follow(&plans)?;
    created.check_followed()
}

impl Pair {
    fn named(&self, end: &str) -> String {
        format!("{}{end}", self.name)
    }

    fn csv(&self, end: &str, version: &str) -> String {
        format!("{}.v{version}", self.named(end))
    }

    /// The CSVs that are there, before or after there is a newer version of what they share.
    fn installed(&self, is_newer: bool) -> Vec<String> {
        let version = |end: &str| match (&self.gets, end) {
            (Gets::AndUpgrades(_), "wire") if is_newer => "1.1.0",
            _ => "1.0.0",
        };
        self.gets.ends().iter().map(|end| self.csv(end, version(end))).collect()
    }
}

impl Gets {
    fn ends(&self) -> &'static [&'static str] {
        match self {
            Self::Nothing(_) => &[],
            Self::AndUpgrades(ends) | Self::AndWaits(ends) | Self::AndStays(ends) => ends,
        }
    }
}

fn subscription(ctx: &TestContext, name: &str, who: SubscriptionSettings) -> Subscription {
    let mut subscription = manual(ctx, name);
    if who.is_automatic {
        subscription.spec.install_plan_approval = None;
    }
    for (key, value) in who.says {
        subscription.annotations_mut().insert((*key).to_owned(), (*value).to_owned());
        if *key == PIN {
            subscription.spec.starting_csv = Some(format!("{name}.v1.0.0"));
        }
    }
    subscription
}

fn content(ctx: &TestContext, is_newer: bool) -> Vec<Package> {
    let of_pair = |pair: &Pair| {
        let (name, old) = (pair.named("wire"), pair.csv("wire", "1.0.0"));
        let wires = kind(ctx, &name);
        let bundle = |version: &str| {
            Bundle::new(version, &operator(&name, version, &wires)).provides(&wires)
        };
        let newer = is_newer.then(|| bundle("1.1.0").replaces(&old));
        let versions: Vec<Bundle> = [bundle("1.0.0")].into_iter().chain(newer).collect();
        let users = ["a", "b"].map(|end| user(ctx, &pair.named(end), &wires));
        users
            .into_iter()
            .chain([Package::new(&name).channel("stable", versions)])
            .collect::<Vec<_>>()
    };
    PAIRS.iter().flat_map(of_pair).collect()
}
