//! Asks a server whether it serves certain content.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::registry::CONTENT_SERVICE;

/// What a server says of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentAnswer {
    /// That is what it serves.
    Serves,
    /// It serves something else, or there is no server.
    Other,
    /// It does not say so in time.
    Silent,
}

/// Asks a [`SwitchedServer`](crate::registry::server::SwitchedServer) over a connection of its own, so that the
/// answer is one that a new client would get.
pub async fn ask_for_content(
    server: SocketAddr,
    content: &str,
    timeout: Duration,
) -> ContentAnswer {
    let asked = tokio::time::timeout(timeout, ask(server, content)).await;
    asked.unwrap_or(ContentAnswer::Silent)
}

async fn ask(server: SocketAddr, content: &str) -> ContentAnswer {
    let Ok(endpoint) = Endpoint::from_shared(format!("http://{server}")) else {
        return ContentAnswer::Other;
    };
    let channel = match endpoint.connect().await {
        Ok(channel) => channel,
        Err(error) if is_refused(&error) => return ContentAnswer::Other,
        // The network, or this process, may be at fault.
        Err(_) => return ContentAnswer::Silent,
    };
    let request = HealthCheckRequest { service: format!("{CONTENT_SERVICE}{content}") };
    match HealthClient::new(channel).check(request).await {
        Ok(answer) if answer.get_ref().status() == ServingStatus::Serving => ContentAnswer::Serves,
        Ok(_) => ContentAnswer::Other,
        Err(status) if matches!(status.code(), Code::Unimplemented | Code::NotFound) => {
            ContentAnswer::Other
        }
        // It has too much to do, or ended the connection to serve newer content.
        Err(_) => ContentAnswer::Silent,
    }
}

/// Whether there is no server at the port.
fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let mut errors = causes.filter_map(|error| error.downcast_ref::<io::Error>());
    errors.any(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use tokio::net::TcpListener;

    use super::*;
    use crate::fbc::ReadLimits;
    use crate::index::Index;
    use crate::registry::server::{ServerOptions, SwitchedServer};

    const TIME: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_server_says_what_it_serves() {
        let folder = Path::new("tests/catalogs/other");
        let index = Arc::new(Index::build(folder, &ReadLimits::default(), None).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = SwitchedServer::start("test", listener, ServerOptions::default());
        for content in ["a", "b"] {
            server.show(Arc::clone(&index) as Arc<_>, content);
            let before = if content == "a" { "b" } else { "a" };
            tokio::time::timeout(TIME, until_served(address, content)).await.unwrap();
            assert_eq!(ask_for_content(address, before, TIME).await, ContentAnswer::Other);
        }
    }

    /// A moment after it is shown.
    async fn until_served(address: SocketAddr, content: &str) {
        while ask_for_content(address, content, TIME).await != ContentAnswer::Serves {}
    }

    #[tokio::test]
    async fn a_port_without_a_server_serves_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let short = Duration::from_millis(50);
        assert_eq!(ask_for_content(address, "a", short).await, ContentAnswer::Silent);
        drop(listener);
        assert_eq!(ask_for_content(address, "a", TIME).await, ContentAnswer::Other);
    }
}
