//! Conflicts that a program brought about itself: it wrote to an object that it had written last, and did
//! not know it.
//!
//! To create what exists is how a step finds out that it does, and does not count.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};

use super::Write;
use super::entry::Entry;

/// The verb of a request that deletes all objects of a kind in a namespace, as is done with one that goes.
const WHOLE_COLLECTION: &str = "deletecollection";

/// A write that was refused with status 409, and the write of the same program that had come before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnConflict {
    /// What was refused.
    pub refused: Write,
    /// Why.
    pub cause: Write,
}

impl fmt::Display for OwnConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { refused, cause } = self;
        let after = refused.received.duration_since(cause.done).as_millis();
        write!(
            f,
            "{refused} at {}, {after} ms after {} {}",
            refused.received, cause.verb, cause.object
        )
    }
}

/// The conflicts of these programs with themselves in a whole log.
///
/// # Errors
/// The log cannot be read.
pub fn own_conflicts(programs: &[&str], log: &Path) -> Result<Vec<OwnConflict>> {
    let of_programs =
        |write: &Write| programs.contains(&write.program.as_str()) && write.verb != "create";
    let refused: Vec<Write> = writes(log, Entry::conflict, |line| line.contains("\"code\":409"))?
        .into_iter()
        .filter(of_programs)
        .collect();
    let objects: BTreeSet<String> = refused.iter().map(Write::main_object).collect();
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let mut written = writes(log, Entry::write, |_| true)?;
    written
        .retain(|write| write.verb == WHOLE_COLLECTION || objects.contains(&write.main_object()));
    let with_cause = refused.into_iter().filter_map(|refused| {
        let cause = cause(&refused, &written)?.clone();
        Some(OwnConflict { refused, cause })
    });
    Ok(with_cause.collect())
}

/// Whether a write is to the object of another one.
fn concerns(write: &Write, other: &Write, object: &str) -> bool {
    let is_collection = write.verb == WHOLE_COLLECTION
        && write.resource() == object.split(' ').next().unwrap_or_default()
        && write.namespace == other.namespace;
    is_collection || write.main_object() == object
}

/// The last write to the object, if the same program did it, and no other program's may have come after it: a write
/// is carried out at some time between its request and its answer.
fn cause<'a>(refused: &Write, written: &'a [Write]) -> Option<&'a Write> {
    let object = refused.main_object();
    let before: Vec<&Write> = written
        .iter()
        .filter(|write| concerns(write, refused, &object) && write.received <= refused.done)
        .collect();
    let answered = before.iter().filter(|write| write.done <= refused.done);
    let last = answered.copied().max_by_key(|write| write.done)?;
    let is_own = |write: &Write| write.program == refused.program;
    let may_be_later = |write: &&Write| !is_own(write) && write.done >= last.received;
    let is_certain = !before.iter().any(may_be_later);
    (is_own(last) && last.verb != "delete" && is_certain).then_some(last)
}

/// What the lines of a log report that look like it.
fn writes(
    log: &Path,
    read: fn(Entry) -> Option<Write>,
    looks_like_it: fn(&str) -> bool,
) -> Result<Vec<Write>> {
    let context = || format!("cannot read {}", log.display());
    let mut found = Vec::new();
    for line in BufReader::new(File::open(log).with_context(context)?).lines() {
        let line = line.with_context(context)?;
        // The API server may be writing the last line.
        if looks_like_it(&line)
            && let Ok(entry) = serde_json::from_str::<Entry>(&line)
        {
            found.extend(read(entry));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::{Value, json};

    use super::*;

    /// As [`line`], of a request that took some seconds.
    fn long(from: u32, second: u32, agent: &str, verb: &str, code: u16) -> Value {
        let mut line = line(second, agent, verb, "", code);
        line["requestReceivedTimestamp"] = json!(format!("2026-01-01T00:00:{from:02}.000000Z"));
        line
    }

    fn line(second: u32, agent: &str, verb: &str, subresource: &str, code: u16) -> Value {
        let time = format!("2026-01-01T00:00:{second:02}.000000Z");
        json!({
            "stage": "ResponseComplete", "requestURI": "/apis/apps/v1/x", "verb": verb,
            "userAgent": format!("{agent}/0.1.0"), "responseStatus": {"metadata": {}, "code": code},
            "objectRef": {"resource": "subscriptions", "namespace": "n", "name": "o",
                "subresource": subresource},
            "requestReceivedTimestamp": time, "stageTimestamp": time,
        })
    }

    #[rstest::rstest]
    #[case::its_own_status(&[("olm", "update", "status", 200), ("olm", "update", "", 409)], 1)]
    #[case::created_twice(&[("olm", "create", "", 201), ("olm", "create", "", 409)], 0)]
    #[case::its_own_object(&[("olm", "create", "", 201), ("olm", "patch", "", 409)], 1)]
    #[case::others(&[("olm", "update", "", 200), ("user", "patch", "", 200), ("olm", "update", "", 409)], 0)]
    #[case::of_others(&[("user", "update", "", 200), ("user", "update", "", 409)], 0)]
    #[case::refused_before(&[("user", "create", "", 201), ("olm", "update", "", 403), ("olm", "update", "", 409)], 0)]
    #[case::still_there(&[("olm", "delete", "", 200), ("olm", "create", "", 409)], 0)]
    #[case::unknown(&[("olm", "update", "", 409)], 0)]
    fn a_conflict_has_a_cause(#[case] story: &[(&str, &str, &str, u16)], #[case] own: usize) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for (second, (agent, verb, subresource, code)) in (0..).zip(story) {
            writeln!(file, "{}", line(second, agent, verb, subresource, *code)).unwrap();
        }
        let found = own_conflicts(&["olm", "catalog"], file.path()).unwrap();
        assert_eq!(found.len(), own, "{found:?}");
        if let Some(conflict) = found.first() {
            assert!(conflict.to_string().contains("1000 ms after"), "{conflict}");
        }
    }
    #[rstest::rstest]
    #[case::answered_after_the_refusal(2, 5, 0)]
    #[case::begun_before_the_own_write_ended(0, 2, 0)]
    #[case::begun_after_the_refusal(5, 6, 1)]
    fn a_write_of_another_program_may_be_the_cause(
        #[case] from: u32,
        #[case] until: u32,
        #[case] own: usize,
    ) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{}", long(1, 3, "olm", "update", 200)).unwrap();
        writeln!(file, "{}", line(4, "olm", "update", "", 409)).unwrap();
        writeln!(file, "{}", long(from, until, "user", "patch", 200)).unwrap();
        assert_eq!(own_conflicts(&["olm"], file.path()).unwrap().len(), own);
    }
}
