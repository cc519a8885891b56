//! One port at which one source is served after the other: for servers that live longer than what they
//! serve.
//!
//! Connections to a former source end when their calls have ended, so clients notice that there is
//! other content, as they would with a server that was replaced.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::StreamExt;
use olm_tasks::{Pauses, Task, contained, restarted};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;
use tonic::transport::server::{Connected, TcpConnectInfo};

use super::serve::{Shown, serve_on};
use super::{ServerOptions, Source};

/// Most clients of a port; for another one the oldest goes.
const CLIENTS: usize = 128;
/// Clients that were accepted and wait for their server.
const WAITING: usize = 16;
/// Pause after the system refused to accept a connection, for lack of file descriptors mostly.
const PAUSE: Duration = Duration::from_millis(100);

/// A port with a source. It closes when this is dropped; calls under way have their time to end.
#[derive(Debug)]
pub struct SwitchedServer {
    source: watch::Sender<Option<Shown>>,
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

    /// Serves this from now on. By the name of the content, [`ask_for_content`] finds out that it is served.
    ///
    /// [`ask_for_content`]: crate::registry::client::ask_for_content
    pub fn show(&self, source: Arc<dyn Source>, content: &str) {
        self.source.send_replace(Some(Shown { source, content: Some(content.into()) }));
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
    mut sources: watch::Receiver<Option<Shown>>,
    options: ServerOptions,
    serving: TaskTracker,
) {
    let mut clients = VecDeque::new();
    let mut current = None;
    sources.mark_changed();
    loop {
        tokio::select! {
            changed = sources.changed() => {
                if changed.is_err() {
                    return;
                }
                let shown = sources.borrow_and_update().clone();
                current = shown.map(|shown| Serving::start(shown, options, &serving));
            }
            accepted = listener.accept(), if current.is_some() => match accepted {
                Ok((stream, _)) => {
                    let client = admit(&mut clients, stream);
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
    fn start(shown: Shown, options: ServerOptions, tracker: &TaskTracker) -> Self {
        let (clients, accepted) = mpsc::channel(WAITING);
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let accepted = futures::stream::unfold(accepted, |mut accepted| async {
            Some((accepted.recv().await?, accepted))
        });
        let served = tracker.track_future(async move {
            if let Err(error) = serve_on(accepted.boxed(), shown, options, stopped).await {
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

/// Counts a client in; the oldest goes when there are too many.
fn admit(clients: &mut VecDeque<Weak<CancellationToken>>, stream: TcpStream) -> Client {
    clients.retain(|client| client.strong_count() > 0);
    while clients.len() >= CLIENTS {
        if let Some(oldest) = clients.pop_front().and_then(|oldest| oldest.upgrade()) {
            oldest.cancel();
        }
    }
    let closed = Arc::new(CancellationToken::new());
    clients.push_back(Arc::downgrade(&closed));
    // Small answers need not wait for others.
    let _ = stream.set_nodelay(true);
    let is_closed = Box::pin((*closed).clone().cancelled_owned());
    Client { stream, is_closed, _counted: closed }
}

/// A connection that may be closed for another one.
struct Client {
    stream: TcpStream,
    is_closed: Pin<Box<WaitForCancellationFutureOwned>>,
    _counted: Arc<CancellationToken>,
}

impl Connected for Client {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Client {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            ready!(self.is_closed.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        read
    }
}

impl AsyncWrite for Client {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
