//! Clients of the API server. What it refuses because it is busy is asked again for a few seconds; no longer, as the API
//! of packages may be away, and there are other ways to what it says. Pages of large objects have fewer of them, and
//! watches share connections: a live page of the console has several.

use kube::client::ClientBuilder;
use kube::client::retry::RetryPolicy;
use kube::{Client, Config};
use olm_pages::paged;
use tower::retry::RetryLayer;
use tower::{BoxError, service_fn};

/// A client for a user. It asks nothing yet, and needs the runtime of tokio.
///
/// # Errors
/// The configuration cannot be used.
pub fn client(config: Config) -> kube::Result<Client> {
    with(config, RetryPolicy::default())
}

/// kube's own policy, which a client has by default, asks an API that is away for many minutes.
fn with(mut config: Config, policy: RetryPolicy) -> kube::Result<Client> {
    config.default_retry = false;
    let namespace = config.default_namespace.clone();
    let client = unrepeated(config)?;
    let send = service_fn(move |request| {
        let client = client.clone();
        async move { client.send(request).await.map_err(BoxError::from) }
    });
    let stack = ClientBuilder::new(send, namespace).with_layer(&RetryLayer::new(policy));
    Ok(paged(&stack.build()))
}

/// A client that asks once. The way through a proxy is kube's own.
fn unrepeated(config: Config) -> kube::Result<Client> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let namespace = config.default_namespace.clone();
    Ok(Client::new(olm_transport::connect_sharing(&config)?, namespace))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const AWAY: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

    /// A server whose API is away, and how often it was asked.
    async fn away() -> (Config, Arc<AtomicU32>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 4096]).await;
                count.fetch_add(1, Ordering::Relaxed);
                let _ = stream.write_all(AWAY).await;
            }
        });
        (Config::new(format!("http://{address}").parse().unwrap()), asked)
    }

    #[tokio::test]
    async fn an_api_that_is_away_is_asked_a_few_times() {
        let (config, asked) = away().await;
        let moment = Duration::from_millis(1);
        let policy = RetryPolicy::new(moment, 2 * moment, 3, false).unwrap();
        let answer = with(config, policy).unwrap().apiserver_version().await;
        assert!(matches!(answer, Err(kube::Error::Api(_))), "{answer:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 4);
    }
}
