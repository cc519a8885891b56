//! `logs`: what the Pods of an operator have logged, line by line with the Pod in front.

use std::pin::pin;

use anyhow::{Context, Result, bail};
use futures::io::{AsyncBufRead, AsyncBufReadExt};
use futures::stream::{self, LocalBoxStream, Stream, StreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::api::LogParams;
use olm_client::operator::subscription;
use olm_client::{Cluster, cause};
use olm_plan::observed::{name, namespace};
use olm_plan::tree::{deployments, pods};

use super::observe;
use crate::Outcome;
use crate::args::LogsArgs;
use crate::output::Output;

/// Most bytes of a line that are printed: nothing bounds a log.
const LONGEST: usize = 16_384;

/// A container of a Pod.
struct Source {
    pod: String,
    container: String,
}

/// Prints the logs.
pub async fn run(
    cluster: &Cluster,
    home: Option<&str>,
    asked: &LogsArgs,
    output: Output,
) -> Result<Outcome> {
    let observed = observe(cluster, home, true).await?;
    let found = subscription(&observed, &asked.name)?;
    let home = namespace(&found.metadata).to_owned();
    let installed = found.status.as_ref().and_then(|status| status.installed_csv.as_deref());
    let installed = installed.context("nothing is installed for this Subscription yet")?;
    let csv = observed.csv(&home, installed);
    let csv = csv.with_context(|| format!("the installed CSV {installed} cannot be read"))?;
    let running = deployments(&observed, csv).flat_map(|one| pods(&observed, one));
    let sources: Vec<Source> =
        running.flat_map(|pod| sources(pod, asked.container.as_deref())).collect();
    if sources.is_empty() {
        bail!("{installed} has no Pod with such a container; `kubectl olm status` shows its Pods");
    }
    let is_one = sources.len() == 1;
    let parameters = parameters(asked);
    let opened = sources.iter().map(|source| lines(cluster, &home, source, &parameters, is_one));
    let mut failures = 0;
    let mut streams = Vec::new();
    for (source, opened) in sources.iter().zip(futures::future::join_all(opened).await) {
        match opened {
            Ok(lines) => streams.push(lines),
            Err(error) => {
                failures += 1;
                let (pod, container) = (&source.pod, &source.container);
                Output::complain(&format!("warning: {pod}/{container}: {}", cause(&error)));
            }
        }
    }
    if failures == sources.len() {
        bail!("no log of {installed} can be read");
    }
    print(streams, asked.follow, output).await?;
    Ok(Outcome::Fine)
}

/// One after the other, or as they come where they are followed.
async fn print(
    streams: Vec<LocalBoxStream<'static, std::io::Result<String>>>,
    follow: bool,
    output: Output,
) -> Result<()> {
    let lines = match follow {
        true => stream::select_all(streams).boxed_local(),
        false => stream::iter(streams).flatten().boxed_local(),
    };
    let mut lines = pin!(lines);
    while let Some(line) = lines.next().await {
        output.print(&(line.context("a log ends early")? + "\n"))?;
    }
    Ok(())
}

fn sources(pod: &Pod, only: Option<&str>) -> Vec<Source> {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let wanted = containers.filter(|one| only.is_none_or(|only| one.name == only));
    let source = |container: &k8s_openapi::api::core::v1::Container| Source {
        pod: name(&pod.metadata).to_owned(),
        container: container.name.clone(),
    };
    wanted.map(source).collect()
}

fn parameters(asked: &LogsArgs) -> LogParams {
    LogParams {
        follow: asked.follow,
        tail_lines: Some(i64::from(asked.tail)),
        since_seconds: asked.since.map(|since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX)),
        previous: asked.previous,
        ..LogParams::default()
    }
}

async fn lines(
    cluster: &Cluster,
    home: &str,
    source: &Source,
    parameters: &LogParams,
    is_one: bool,
) -> Result<LocalBoxStream<'static, std::io::Result<String>>> {
    let container = Some(source.container.clone());
    let parameters = LogParams { container, ..parameters.clone() };
    let pods = cluster.api::<Pod>(Some(home));
    let opened = cluster.answer(pods.log_stream(&source.pod, &parameters)).await?;
    let before = match is_one {
        true => String::new(),
        false => format!("[{}/{}] ", source.pod, source.container),
    };
    let lines = bounded_lines(Box::pin(opened));
    Ok(lines.map(move |line| line.map(|line| before.clone() + &line)).boxed_local())
}

/// The lines of a log; the rest of a long one is passed over.
fn bounded_lines(log: impl AsyncBufRead + Unpin) -> impl Stream<Item = std::io::Result<String>> {
    stream::unfold(Some(log), |log| async move {
        let mut log = log?;
        let mut line = Vec::new();
        loop {
            let chunk = match log.fill_buf().await {
                Ok(chunk) => chunk,
                Err(error) => return Some((Err(error), None)),
            };
            if chunk.is_empty() {
                return (!line.is_empty()).then(|| (Ok(text(&line)), None));
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let left = LONGEST.saturating_sub(line.len());
            let kept = end.unwrap_or(chunk.len()).min(left);
            line.extend(chunk.iter().take(kept));
            let taken = end.map_or(chunk.len(), |end| end + 1);
            log.consume_unpin(taken);
            if end.is_some() {
                return Some((Ok(text(&line)), Some(log)));
            }
        }
    })
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches('\r').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_bounded_and_the_last_one_needs_no_end() {
        let long = "x".repeat(LONGEST + 5);
        let log = format!("a\r\n{long}\n\nlast");
        let lines = bounded_lines(futures::io::Cursor::new(log));
        let lines: Vec<String> = lines.map(Result::unwrap).collect().await;
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [1, LONGEST, 0, 4]);
        assert_eq!((&*lines[0], &*lines[3]), ("a", "last"));
    }
}
