//! Who wrote, listed and used what, from the audit log of the API server.
//!
//! A write is a request that the API server carried out and that could change what it stores:
//! reviews of rights and requests for tokens are none, events are. A list counts once, however
//! many pages it has.

mod conflicts;
mod entry;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use tokio::time::{Instant, sleep};

pub use conflicts::{OwnConflict, own_conflicts};
use entry::Entry;
pub use usage::{Usage, Use};

/// Between two looks at the log.
const LOOK: Duration = Duration::from_millis(100);

/// How much of the log is read at once to find the end of a line, in bytes.
const PIECE: u64 = 1 << 16;

/// A request that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The program that asked, as its user agent names it.
    pub program: String,
    /// The whole user agent.
    pub agent: String,
    /// `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: String,
    /// Whether the object was not there before: a create, or an apply that was answered with 201.
    pub is_new: bool,
    /// Resource, namespace, name and subresource, for a reader.
    pub object: String,
    /// The namespace of the object; empty for objects of the whole cluster.
    pub namespace: String,
    /// When the API server got the request.
    pub received: Timestamp,
    /// When it had answered it.
    pub done: Timestamp,
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.program, self.verb, self.object)
    }
}

impl Write {
    /// A write as tests of what reads the log need one, in the first second of all: of `RESOURCE NAMESPACE/NAME`, or
    /// of `RESOURCE NAME` in the whole cluster.
    pub fn example(program: &str, verb: &str, object: &str) -> Self {
        let (_, place) = object.split_once(' ').unwrap_or_default();
        let (namespace, _) = place.split_once('/').unwrap_or_default();
        Self {
            program: program.to_owned(),
            agent: String::new(),
            verb: verb.to_owned(),
            is_new: verb == "create",
            object: object.to_owned(),
            namespace: namespace.to_owned(),
            received: Timestamp::UNIX_EPOCH,
            done: Timestamp::UNIX_EPOCH,
        }
    }

    /// The resource in the plural, with its subresource (`pods/status`).
    pub fn resource(&self) -> &str {
        self.object.split(' ').next().unwrap_or_default()
    }

    /// The object whatever was written of it: without a subresource.
    fn main_object(&self) -> String {
        let (resource, name) = self.object.split_once(' ').unwrap_or_default();
        format!("{} {name}", resource.split('/').next().unwrap_or_default())
    }
}

/// How often who wrote what, by program, verb and resource.
pub fn tally(writes: &[Write]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for write in writes {
        let what = format!("{:<23} {:<6} {}", write.program, write.verb, write.resource());
        *counts.entry(what).or_default() += 1;
    }
    counts
}

/// Reads a log from some point on. Each read goes on where the last one ended.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    position: u64,
    namespace: Option<String>,
    /// What is not looked at.
    apart_from: Option<&'static str>,
}

impl AuditLog {
    /// Reads from the beginning.
    pub fn new(path: PathBuf) -> Self {
        Self { path, position: 0, namespace: None, apart_from: None }
    }

    /// Reads what is written from now on.
    pub fn from_now(path: PathBuf) -> Result<Self> {
        let mut log = Self::new(path);
        log.skip()?;
        Ok(log)
    }

    /// Knows only the writes in one namespace from now on.
    #[must_use]
    pub fn of_namespace(self, namespace: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..self }
    }

    /// Does not look at objects of this resource, in the plural.
    #[must_use]
    pub fn apart_from(self, resource: &'static str) -> Self {
        Self { apart_from: Some(resource), ..self }
    }

    /// Passes over everything that was written so far.
    pub fn skip(&mut self) -> Result<()> {
        let context = || format!("cannot read {}", self.path.display());
        let mut file = File::open(&self.path).with_context(context)?;
        self.position = end_of_lines(&mut file, self.position).with_context(context)?;
        Ok(())
    }

    /// The writes of these programs since the last read.
    pub fn writes(&mut self, programs: &[&str]) -> Result<Vec<Write>> {
        let entries = self.entries(programs)?.into_iter();
        let mut all: Vec<Write> = entries.filter_map(Entry::write).collect();
        all.retain(|write| self.concerns(write) && programs.contains(&write.program.as_str()));
        Ok(all)
    }

    /// The writes of all programs since the last read, the API server's own among them.
    pub fn all_writes(&mut self) -> Result<Vec<Write>> {
        self.writes_about(&[""])
    }

    /// The writes of all programs since the last read whose lines hold one of these texts: names of objects, of
    /// namespaces. Other lines are not parsed, as those of a busy cluster are many.
    pub fn writes_about(&mut self, texts: &[&str]) -> Result<Vec<Write>> {
        let all = self.entries(texts)?.into_iter().filter_map(Entry::write);
        Ok(all.filter(|write| self.concerns(write)).collect())
    }

    /// The requests of these programs since the last read that an API server refused with status 409:
    /// the object had changed meanwhile, or was there already.
    pub fn conflicts(&mut self, programs: &[&str]) -> Result<Vec<Write>> {
        let all = self.entries(programs)?.into_iter().filter_map(Entry::conflict);
        Ok(all.filter(|write| programs.contains(&write.program.as_str())).collect())
    }

    /// How often these programs listed what since the last read; selections of one kind of object
    /// are distinguished.
    pub fn lists(&mut self, programs: &[&str]) -> Result<BTreeMap<String, usize>> {
        let mut counts = BTreeMap::new();
        for entry in self.entries(programs)? {
            let wanted = programs.contains(&entry.program());
            if let Some(list) = entry.list().filter(|_| wanted) {
                *counts.entry(list).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// What these programs began to watch since the last read, each with its name.
    pub fn watches(&mut self, programs: &[&str]) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for entry in self.entries(programs)? {
            let program = entry.program().to_owned();
            let watch = entry.watch().filter(|_| programs.contains(&program.as_str()));
            found.extend(watch.map(|watch| format!("{program}: {watch}")));
        }
        Ok(found)
    }

    /// Waits until these programs watch all of this again.
    pub async fn until_watched(
        &mut self,
        programs: &[&str],
        mut missing: BTreeSet<String>,
        time_limit: Duration,
    ) -> Result<()> {
        let deadline = Instant::now() + time_limit;
        loop {
            let begun = self.watches(programs)?;
            missing.retain(|watch| !begun.contains(watch));
            match missing.first() {
                None => return Ok(()),
                Some(one) if Instant::now() > deadline => bail!("not watched again: {one}"),
                Some(_) => sleep(LOOK).await,
            }
        }
    }

    /// Waits until these programs have written nothing for `quiet`; returns what they wrote.
    pub async fn until_idle(
        &mut self,
        programs: &[&str],
        quiet: Duration,
        time_limit: Duration,
    ) -> Result<Vec<Write>> {
        let deadline = Instant::now() + time_limit;
        let mut all = self.writes(programs)?;
        let mut since = Instant::now();
        while since.elapsed() < quiet {
            if let (true, Some(last)) = (Instant::now() > deadline, all.last()) {
                bail!("there is no end of writes after {time_limit:?}; the last one: {last}");
            }
            sleep(LOOK).await;
            let new = self.writes(programs)?;
            if !new.is_empty() {
                since = Instant::now();
                all.extend(new);
            }
        }
        Ok(all)
    }

    /// Watches for `duration`, and fails when one of these programs writes.
    pub async fn nothing_for(&mut self, programs: &[&str], duration: Duration) -> Result<()> {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            sleep(LOOK).await;
            let new = self.writes(programs)?;
            if !new.is_empty() {
                let lines: String = new.iter().map(|write| format!("\n{write}")).collect();
                bail!("there are writes where none were expected:{lines}");
            }
        }
        Ok(())
    }

    /// Whether a write is in the namespace of this log, and not of what it leaves out.
    fn concerns(&self, write: &Write) -> bool {
        let here = self.namespace.as_ref().is_none_or(|namespace| *namespace == write.namespace);
        here && self.apart_from.is_none_or(|resource| !write.object.starts_with(resource))
    }

    /// Of a log of a busy cluster few lines are read closely: those with the name of such a program.
    fn entries(&mut self, programs: &[&str]) -> Result<Vec<Entry>> {
        let text = self.read()?;
        let entry = |line| serde_json::from_str(line).context("a line of the audit log is no JSON");
        let namespace = self.namespace.as_deref().unwrap_or_default();
        let concerns = |line: &&str| {
            line.contains(namespace) && programs.iter().any(|program| line.contains(program))
        };
        text.lines().filter(concerns).map(entry).collect()
    }

    /// The complete lines since the last read.
    fn read(&mut self) -> Result<String> {
        let context = || format!("cannot read {}", self.path.display());
        let mut file = File::open(&self.path).with_context(context)?;
        file.seek(SeekFrom::Start(self.position)).with_context(context)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(context)?;
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(complete);
        self.position += u64::try_from(complete)?;
        String::from_utf8(bytes).context("the audit log is no text")
    }
}

/// Where the last complete line ends that begins at a position or later; looked for from the end of the file, as
/// the log of a cluster with hundreds of scenarios is long.
fn end_of_lines(file: &mut File, from: u64) -> Result<u64> {
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > from {
        let start = end.saturating_sub(PIECE).max(from);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.by_ref().take(end - start).read_to_end(&mut bytes)?;
        if let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + u64::try_from(last)? + 1);
        }
        end = start;
    }
    Ok(from)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::{Value, json};

    use super::AuditLog;

    #[test]
    fn a_list_counts_once_whatever_its_pages() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut log = AuditLog::new(file.path().to_owned());
        for query in ["limit=500", "limit=500&continue=abc", "labelSelector=%21a&limit=500"] {
            let mut list = line("olm-operator/0.1.0", "deployments", 200);
            list["verb"] = json!("list");
            list["requestURI"] = json!(format!("/apis/apps/v1/deployments?{query}"));
            list["objectRef"] = json!({"resource": "deployments"});
            writeln!(file, "{list}").unwrap();
        }
        let lists = log.lists(&["olm-operator"]).unwrap();
        let lists: Vec<_> = lists.iter().map(|(list, count)| (list.as_str(), *count)).collect();
        assert_eq!(lists, [("deployments", 1), ("deployments  %21a", 1)]);
        let mut again = AuditLog::new(file.path().to_owned());
        assert_eq!(again.writes(&["olm-operator"]).unwrap(), [], "a list is no write");
    }

    fn line(agent: &str, resource: &str, code: u16) -> Value {
        json!({
            "stage": "ResponseComplete",
            "requestURI": "/apis/apps/v1/x",
            "verb": "patch",
            "userAgent": agent,
            "objectRef": {"resource": resource, "namespace": "n", "name": "o", "subresource": "status"},
            "responseStatus": {"metadata": {}, "code": code},
        })
    }

    #[test]
    fn what_was_written_so_far_is_passed_over_up_to_the_last_whole_line() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut log = AuditLog::from_now(file.path().to_owned()).unwrap();
        for _ in 0..3 {
            writeln!(file, "{}", line("olm-operator/0.1.0", "deployments", 200)).unwrap();
            log.skip().unwrap();
        }
        let long = line("olm-operator/0.1.0", &"x".repeat(200_000), 200).to_string();
        let (begun, rest) = long.split_at(150_000);
        write!(file, "{begun}").unwrap();
        log.skip().unwrap();
        writeln!(file, "{rest}").unwrap();
        assert_eq!(log.writes(&["olm-operator"]).unwrap().len(), 1, "the long one");
        writeln!(file, "{long}").unwrap();
        log.skip().unwrap();
        assert_eq!(log.writes(&["olm-operator"]).unwrap(), []);
    }

    #[test]
    fn only_what_was_carried_out_by_the_program_counts_and_only_once() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut log = AuditLog::new(file.path().to_owned());
        writeln!(file, "{}", line("olm-operator/0.1.0 (olm-rs)", "deployments", 200)).unwrap();
        writeln!(file, "{}", line("olm-operator/0.1.0 (olm-rs)", "deployments", 409)).unwrap();
        writeln!(file, "{}", line("kubectl/v1", "deployments", 200)).unwrap();
        let mut review = line("olm-operator/0.1.0", "subjectaccessreviews", 201);
        review["objectRef"]["apiGroup"] = json!("authorization.k8s.io");
        writeln!(file, "{review}").unwrap();
        write!(file, "{{\"stage\":").unwrap();
        let writes = log.writes(&["olm-operator"]).unwrap();
        let lines: Vec<String> = writes.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["olm-operator: patch deployments/status n/o"]);
        let counted = format!("{:<23} {:<6} deployments/status", "olm-operator", "patch");
        assert_eq!(super::tally(&writes), [(counted, 1)].into());
        let mut all = AuditLog::new(file.path().to_owned());
        let programs: Vec<String> =
            all.all_writes().unwrap().into_iter().map(|write| write.program).collect();
        assert_eq!(programs, ["olm-operator", "kubectl"]);
        let in_namespace = |name: &str| {
            let mut log = AuditLog::new(file.path().to_owned()).of_namespace(name);
            log.writes(&["olm-operator"]).unwrap().len()
        };
        assert_eq!((in_namespace("n"), in_namespace("m")), (1, 0));
        writeln!(file, "\"Panic\"}}").unwrap();
        assert_eq!(log.writes(&["olm-operator"]).unwrap(), []);
        let mut again = AuditLog::new(file.path().to_owned());
        let conflicts = again.conflicts(&["olm-operator"]).unwrap();
        let lines: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["olm-operator: patch deployments/status n/o"]);
        assert_eq!(again.conflicts(&["olm-operator"]).unwrap(), [], "they were read");
    }
}
