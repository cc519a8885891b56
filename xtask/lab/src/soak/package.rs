//! One package: installed, upgraded, removed.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use kube::Client;
use olm_testkit::progress::Progress;
use olm_types::api::Approval;
use tokio::time::Instant;

use super::follow::{CsvProgress, follow, refusal};
use super::leftovers::ClusterBaseline;
use super::plan::{Route, Subject};
use super::report::{Line, Problem};
use super::segment_upgrade::follow_within;
use super::segments::{ChannelSegment, segments, shared};
use super::subscriptions::PackageNamespaces;

/// Plays a package to its end; what goes wrong with it is in the line. Where it is, it reports as
/// `progress`.
pub(super) async fn play(subject: &Subject, client: &Client, progress: &Progress) -> Result<Line> {
    let started = Instant::now();
    let before = ClusterBaseline::look(client).await?;
    let home = PackageNamespaces::of(client, &subject.package);
    home.build().await?;
    let mut reported = Reported::new(progress);
    for route in &subject.channels {
        for segment in segments(subject, route) {
            if !segment.versions.is_subset(&reported.seen.succeeded) {
                let ChannelSegment { first, last, .. } = &segment;
                progress.step(format!("channel {}, from {first} to {last}", route.channel));
                reported.upgrade(subject, route, &segment, &home, &before).await?;
            }
        }
    }
    for (name, route) in missed(subject, &reported.seen) {
        progress.step(format!("{name} by itself"));
        reported.alone(subject, route, &name, &home, &before).await?;
    }
    progress.step("everything is removed");
    reported.left.extend(before.removed(&home, &subject.shipped).await?);
    Ok(reported.line(subject, started.elapsed()))
}

/// The versions that no upgrade passed, each with a channel that has it.
fn missed<'a>(subject: &'a Subject, seen: &CsvProgress) -> Vec<(String, &'a Route)> {
    let names = subject.versions.keys().filter(|name| !seen.succeeded.contains(*name));
    let with_route = names.filter_map(|name| {
        let route = subject.channels.iter().find(|route| route.entries.contains(name))?;
        Some((name.clone(), route))
    });
    with_route.collect()
}

/// What came of a package so far.
struct Reported {
    seen: CsvProgress,
    problems: Vec<Problem>,
    /// What stayed after a removal.
    left: Vec<String>,
    upgraded: usize,
}

impl Reported {
    fn new(progress: &Progress) -> Self {
        let seen = CsvProgress::new(progress.clone());
        Self { seen, problems: Vec::new(), left: Vec::new(), upgraded: 0 }
    }

    /// From the first version of a segment of a channel to its last.
    async fn upgrade(
        &mut self,
        subject: &Subject,
        route: &Route,
        segment: &ChannelSegment,
        home: &PackageNamespaces,
        before: &ClusterBaseline,
    ) -> Result<()> {
        home.group(&segment.modes).await?;
        let (package, channel) = (&subject.package, &route.channel);
        let approval = if segment.is_whole { Approval::Automatic } else { Approval::Manual };
        home.subscribe(package, channel, &segment.first, approval).await?;
        let known = self.seen.succeeded.len();
        let arrived = match segment.is_whole {
            true => follow(home, &segment.last, &mut self.seen).await?,
            false => follow_within(home, segment, &subject.versions, &mut self.seen).await?,
        };
        self.upgraded += self.seen.succeeded.len().saturating_sub(known + 1);
        if !arrived {
            let stuck = self.stuck(segment);
            self.problem(subject, &stuck, home, before).await?;
        }
        self.remove(subject, home, before).await
    }

    /// One version by itself.
    async fn alone(
        &mut self,
        subject: &Subject,
        route: &Route,
        name: &str,
        home: &PackageNamespaces,
        before: &ClusterBaseline,
    ) -> Result<()> {
        let lacks = subject.versions.get(name).is_some_and(|version| {
            version.missing.is_some() || before.impossible(version).is_some()
        });
        if lacks && self.problems.iter().any(|problem| problem.version == name) {
            return Ok(());
        }
        home.group(&shared(subject, &BTreeSet::from([name.to_owned()]))).await?;
        let (package, channel) = (&subject.package, &route.channel);
        home.subscribe(package, channel, name, Approval::Manual).await?;
        let approved = home.approve().await.is_ok();
        if !approved || !follow(home, name, &mut self.seen).await? {
            self.problem(subject, name, home, before).await?;
        }
        self.remove(subject, home, before).await
    }

    /// Where the way through a segment ended: at the newest CSV that was seen and has not
    /// succeeded, else at the first version.
    fn stuck(&self, segment: &ChannelSegment) -> String {
        let mut newest_first = segment.versions.iter().rev();
        let open = newest_first.find(|name| {
            !self.seen.succeeded.contains(*name) && self.seen.complaint(name).is_some()
        });
        open.unwrap_or(&segment.first).clone()
    }

    async fn problem(
        &mut self,
        subject: &Subject,
        version: &str,
        home: &PackageNamespaces,
        before: &ClusterBaseline,
    ) -> Result<()> {
        let said = match self.seen.complaint(version) {
            Some(complaint) => complaint,
            None => refusal(home).await?.unwrap_or_else(|| "no condition says why".to_owned()),
        };
        let known = subject.versions.get(version);
        let missing = known
            .and_then(|version| version.missing.clone().or_else(|| before.impossible(version)));
        let phase = self.seen.phase(version);
        self.problems.push(Problem { version: version.to_owned(), phase, said, missing });
        Ok(())
    }

    async fn remove(
        &mut self,
        subject: &Subject,
        home: &PackageNamespaces,
        before: &ClusterBaseline,
    ) -> Result<()> {
        home.uninstall().await.context("cannot uninstall")?;
        self.left.extend(before.uninstalled(home, &subject.shipped).await?);
        // Users of an older version have no definitions of a newer one.
        before.clear(&subject.shipped).await
    }

    fn line(self, subject: &Subject, took: std::time::Duration) -> Line {
        let succeeded =
            subject.versions.keys().filter(|name| self.seen.succeeded.contains(*name)).count();
        Line {
            package: subject.package.clone(),
            versions: subject.versions.len(),
            succeeded,
            upgraded: self.upgraded,
            problems: self.problems,
            left: self.left,
            took,
        }
    }
}
