//! How the process ends: the first SIGINT or SIGTERM drains, the second exits with code 1.

use std::io;

use futures::{Stream, StreamExt};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::tasks::concluded;

/// Exit code after a second signal.
pub const FORCED_EXIT_CODE: i32 = 1;

/// Listens for signals from now on; the returned token is cancelled by the first one.
///
/// # Errors
/// When the process may not install signal handlers.
pub fn on_signals() -> io::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let signals = futures::stream::poll_fn(move |context| {
        if let std::task::Poll::Ready(received) = interrupt.poll_recv(context) {
            return std::task::Poll::Ready(received.map(|()| "SIGINT"));
        }
        terminate.poll_recv(context).map(|received| received.map(|()| "SIGTERM"))
    });
    let token = CancellationToken::new();
    let (listening, unheard) = (token.clone(), token.clone());
    let listener = listen(signals, listening, |code| std::process::exit(code));
    // A process that hears no signal any more drains while it can.
    concluded(listener, move |ended| {
        if let Err(error) = ended {
            tracing::error!(%error, "signals are not heard any more, draining");
            unheard.cancel();
        }
    });
    Ok(token)
}

/// Cancels `token` at the first signal and calls `exit` at the second.
async fn listen(
    mut signals: impl Stream<Item = &'static str> + Unpin,
    token: CancellationToken,
    exit: impl FnOnce(i32),
) {
    let Some(first) = signals.next().await else {
        return;
    };
    tracing::info!(signal = first, "draining; a second signal ends the process at once");
    token.cancel();
    let Some(second) = signals.next().await else {
        return;
    };
    tracing::warn!(signal = second, "second signal, exiting");
    exit(FORCED_EXIT_CODE);
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures::stream;

    use super::*;

    async fn after(signals: &[&'static str]) -> (bool, Option<i32>) {
        let token = CancellationToken::new();
        let code = Cell::new(None);
        let signals = stream::iter(signals.to_vec());
        listen(signals, token.clone(), |exited| code.set(Some(exited))).await;
        (token.is_cancelled(), code.get())
    }

    #[tokio::test]
    async fn first_signal_drains_second_exits() {
        assert_eq!(after(&[]).await, (false, None));
        assert_eq!(after(&["SIGTERM"]).await, (true, None));
        assert_eq!(after(&["SIGTERM", "SIGINT"]).await, (true, Some(1)));
    }
}
