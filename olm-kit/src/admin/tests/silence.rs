//! Connections that say nothing, beside probes.

use std::time::Duration;

use rstest::rstest;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::*;
use super::tls::{self, Files};
use crate::scripted::Script;

/// What a probe waits for an answer at most, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Connections of one Pod, and how many stay at most.
const SILENT: usize = 500;
const STAY: usize = 256;

#[rstest]
#[case::plain(false)]
#[case::tls(true)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probes_are_answered_beside_silent_connections(#[case] secured: bool) {
    let (files, tasks) = (Files::new(), Tasks::new(CancellationToken::new()));
    let admin = match secured {
        true => tls::admin(&Script::new(), files.given(None)),
        false => Admin::new(Metrics::new().unwrap()),
    };
    let address = admin.serve("127.0.0.1:0", &tasks).await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..SILENT {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let probe = async || match secured {
        true => tls::get(address, &files.authority, "/healthz", None, None).await,
        false => super::get(address, "/healthz").await,
    };
    for _ in 0..3 {
        let answer = timeout(TIMEOUT, probe()).await.expect("a probe has no answer");
        assert_eq!(answer, (200, "ok".to_owned()));
    }
    let mut open = 0;
    for stream in &mut silent {
        let read = timeout(Duration::from_millis(1), stream.read(&mut [0; 1])).await;
        open += usize::from(read.is_err());
    }
    assert!(open <= STAY, "{open} silent connections stay");
}
