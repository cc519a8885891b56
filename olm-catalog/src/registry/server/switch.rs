//! One port at which one source is served after the other: for servers that live longer than what they
//! serve.
//!
//! Connections to a former source end when their calls have ended, so clients notice that there is
//! other content, as they would with a server that was replaced.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use olm_tasks::{Pauses, Task, contained, restarted};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::clients::{Client, Clients};
use super::serve::serve_on;
use super::{ServerOptions, Source};

/// Clients that were accepted and wait for their server.
const WAITING: usize = 16;
/// Pause after the system refused to accept a connection, for lack of file descriptors mostly.
const PAUSE: Duration = Duration::from_millis(100);

/// A port with a source. It closes when this is dropped; calls under way have their time to end.
#[derive(Debug)]
pub struct SwitchedServer {
    source: watch::Sender<Option<Arc<dyn Source>>>,
    serving: TaskTracker,
    _task: Task,
}

impl SwitchedServer {
    /// Accepts connections once there is a source.
    pub fn start(name: &str, listener: TcpListener, options: ServerOptions) -> Self {
        let (source, sources) = watch::channel(None);
        let listener = Arc::new(listener);
        let serving = TaskTracker::new();
        let tracked = serving.clone();
        let start = move || run(Arc::clone(&listener), sources.clone(), options, tracked.clone());
        Self { source, serving, _task: restarted(name, Pauses::default(), start, |_| {}) }
    }

    /// Serves this from now on.
    pub fn show(&self, source: Arc<dyn Source>) {
        self.source.send_replace(Some(source));
    }

    /// Closes the port, and waits until calls under way have ended.
    pub async fn end(self) {
        let Self { source, serving, _task } = self;
        drop((source, _task));
        serving.close();
        serving.wait().await;
    }
}

async fn run(
    listener: Arc<TcpListener>,
    mut sources: watch::Receiver<Option<Arc<dyn Source>>>,
    options: ServerOptions,
    serving: TaskTracker,
) {
    let mut clients = Clients::default();
    let mut current = None;
    sources.mark_changed();
    loop {
        tokio::select! {
            changed = sources.changed() => {
                if changed.is_err() {
                    return;
                }
                let source = sources.borrow_and_update().clone();
                current = source.map(|source| Serving::start(source, options, &serving));
            }
            accepted = listener.accept(), if current.is_some() => match accepted {
                Ok((stream, from)) => {
                    let client = clients.admit(stream, from.ip());
                    if let Some(current) = &current {
                        current.serve(client).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection to a registry server is not accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
}

/// A source that is being served; dropping it ends that.
struct Serving {
    clients: mpsc::Sender<io::Result<Client>>,
    stop: CancellationToken,
}

impl Serving {
    fn start(source: Arc<dyn Source>, options: ServerOptions, tracker: &TaskTracker) -> Self {
        let (clients, accepted) = mpsc::channel(WAITING);
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let accepted = futures::stream::unfold(accepted, |mut accepted| async {
            Some((accepted.recv().await?, accepted))
        });
        let served = tracker.track_future(async move {
            if let Err(error) = serve_on(accepted.boxed(), source, options, stopped).await {
                tracing::error!(%error, "a registry server ended");
            }
        });
        contained("registry server", served);
        Self { clients, stop }
    }

    async fn serve(&self, client: Client) {
        // A server that does not take it closes it.
        let _ = self.clients.send(Ok(client)).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
