//! Processes end when they should, and only those that should.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{Launch, Lifetime, Peak, Record, peaks};

fn sleeper(dir: &tempfile::TempDir, lifetime: Lifetime) -> Launch {
    Launch {
        name: "sleeper".into(),
        program: "sleep".into(),
        args: vec!["300".into()],
        env: Vec::new(),
        log: dir.path().join("sleeper.log"),
        lifetime,
    }
}

fn wait_until_gone(record: &Record) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while record.is_alive() {
        assert!(Instant::now() < deadline, "{record:?} still runs");
        std::thread::yield_now();
    }
}

#[test]
fn a_child_of_a_command_goes_when_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let running = sleeper(&dir, Lifetime::Command).start().unwrap();
    let record = running.record().clone();
    assert!(record.is_alive());
    drop(running);
    wait_until_gone(&record);
}

#[test]
fn a_child_of_a_command_goes_when_the_pipe_closes() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = sleeper(&dir, Lifetime::Command).start().unwrap();
    let record = running.record().clone();
    // What the kernel does when the starter is killed.
    drop(running.child.stdin.take());
    wait_until_gone(&record);
}

#[test]
fn a_kept_child_stays_until_its_record_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = sleeper(&dir, Lifetime::Kept).start().unwrap();
    let record = running.record().clone();
    let other = Record { started: record.started + 1, ..record.clone() };
    other.stop();
    assert!(record.is_alive(), "a process that only shares the id was ended");
    record.stop();
    let _ = running.child.wait();
    assert!(!record.is_alive());
}

#[test]
fn the_time_on_processors_is_that_of_both_modes() {
    let stat = "7 (a) b) S 1 7 7 0 -1 4194560 90 0 0 0 123 45 6 7 20 0 1 0 99 1 2";
    assert_eq!(super::ticks(stat), Some(168));
    assert_eq!(super::ticks("7 (a) S 1"), None);
    let dir = tempfile::tempdir().unwrap();
    assert!(sleeper(&dir, Lifetime::Command).start().unwrap().processor_time().is_some());
}

#[test]
fn an_early_end_is_reported_with_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut launch = sleeper(&dir, Lifetime::Command);
    launch.program = "sh".into();
    launch.args = vec!["-c".into(), "echo the reason; exit 3".into()];
    let mut running = launch.start().unwrap();
    wait_until_gone(&running.record().clone());
    let error = running.check().unwrap_err().to_string();
    assert!(error.contains("exit status: 3") && error.contains("the reason"), "{error}");
}

/// What it took is known when it has ended, too, and after the kernel counts anew.
#[test]
fn a_process_beyond_its_memory_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let limited = |program: &'static str, limit: u64| {
        sleeper(&dir, Lifetime::Command).start().unwrap().limited(program, limit)
    };
    let mut small = limited("small", u64::MAX);
    small.check().unwrap();
    small.forget_peak().unwrap();
    small.stop();
    let mut large = limited("large", 1);
    let error = large.check().unwrap_err().to_string();
    assert!(error.starts_with("sleeper took ") && error.ends_with(", and may take 1"), "{error}");
    drop(large);
    let peaks: BTreeMap<String, Peak> = peaks().into_iter().collect();
    let is_beyond = |program: &str| peaks[program].bytes > peaks[program].limit;
    assert_eq!((is_beyond("small"), is_beyond("large")), (false, true));
}
