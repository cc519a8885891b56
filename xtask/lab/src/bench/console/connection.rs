//! A console, and connections to it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use olm_testkit::fixture::Fixture;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::process::{Launch, Lifetime, Running};
use olm_testkit::wait;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// How long a page may take.
const ANSWER: Duration = Duration::from_secs(120);

/// The program, and what its cookie is.
pub(super) struct Console {
    running: Running,
    host: String,
    cookie: String,
    _folder: TempDir,
}

/// A connection that stays open.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
    cookie: String,
}

/// The beginning of an answer.
#[derive(Default)]
struct Head {
    code: u16,
    length: usize,
    cookie: String,
}

impl Console {
    /// Starts one that looks at the namespace of the operators.
    pub(super) async fn start(fixture: &Fixture, flags: &[String]) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let log = folder.path().join("console.log");
        let kubeconfig = fixture.kubeconfig.to_string_lossy().into_owned();
        let args = ["--kubeconfig", &kubeconfig, "-n", OLM_NAMESPACE, "console", "--no-pull"];
        let args = args.into_iter().chain(["--olm-namespace", OLM_NAMESPACE]).map(str::to_owned);
        let launch = Launch {
            name: "kubectl-olm".to_owned(),
            program: fixture.binaries.program("kubectl-olm"),
            args: args.chain(flags.iter().cloned()).collect(),
            env: Vec::new(),
            log: log.clone(),
            lifetime: Lifetime::Command,
        };
        let running = launch.start()?;
        let url = wait::until_ok("prints its address", || async { printed(&log) }).await?;
        let (host, path) = url.split_once('/').context("it prints no path")?;
        let (host, cookie) = (host.to_owned(), String::new());
        let mut console = Self { running, host, cookie, _folder: folder };
        let mut connection = Connection::open(&console).await?;
        let (head, _) = connection.ask(&format!("/{path}")).await?;
        ensure!(head.code == 303, "the token is answered with {}", head.code);
        console.cookie = head.cookie;
        Ok(console)
    }

    /// Resident memory now.
    pub(super) fn megabytes(&self) -> Result<f64> {
        Ok(self.running.resident_memory().context("the console has ended")? as f64 / 1e6)
    }

    /// The most resident memory so far.
    pub(super) fn peak(&self) -> Result<f64> {
        Ok(self.running.peak_memory().context("the console has ended")? as f64 / 1e6)
    }
}

impl Connection {
    /// Opens one.
    pub(super) async fn open(console: &Console) -> Result<Self> {
        let (host, cookie) = (console.host.clone(), console.cookie.clone());
        Ok(Self { stream: connected(&host).await?, host, cookie })
    }

    /// Opens the events of a page, and waits until the page is followed: it is live as long as this is there.
    pub(super) async fn follow(console: &Console, path: &str) -> Result<Self> {
        let mut connection = Self::open(console).await?;
        connection.send(path).await?;
        let head = connection.head().await?;
        ensure!(head.code == 200, "{path} is answered with {}", head.code);
        let live = timeout(ANSWER, connection.until_live()).await;
        live.with_context(|| format!("{path} is not live"))??;
        Ok(connection)
    }

    /// A page. A connection that the console has ended, as it was silent, is opened again.
    pub(super) async fn get(&mut self, path: &str) -> Result<String> {
        let (head, page) = match timeout(ANSWER, self.ask(path)).await.context("no answer")? {
            Ok(answer) => answer,
            Err(_) => {
                self.stream = connected(&self.host).await?;
                timeout(ANSWER, self.ask(path)).await.context("no answer")??
            }
        };
        ensure!(head.code == 200, "{path} is answered with {}", head.code);
        // What could not be read is a small page, too.
        ensure!(!page.contains("<title>Not shown"), "{path} is not shown: {page}");
        Ok(page)
    }

    /// How long a page takes.
    pub(super) async fn time(&mut self, path: &str) -> Result<Duration> {
        let begun = Instant::now();
        self.get(path).await?;
        Ok(begun.elapsed())
    }

    async fn ask(&mut self, path: &str) -> Result<(Head, String)> {
        self.send(path).await?;
        let head = self.head().await.with_context(|| path.to_owned())?;
        let mut body = vec![0; head.length];
        self.stream.read_exact(&mut body).await?;
        Ok((head, String::from_utf8(body).context("a page that is no text")?))
    }

    async fn send(&mut self, path: &str) -> Result<()> {
        let (host, cookie) = (&self.host, &self.cookie);
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
        self.stream.write_all(request.as_bytes()).await.context("the connection has ended")
    }

    async fn head(&mut self) -> Result<Head> {
        let mut head = Head::default();
        loop {
            match self.line().await?.as_str() {
                "" => return Ok(head),
                line => head.take(line),
            }
        }
    }

    async fn until_live(&mut self) -> Result<()> {
        while self.line().await? != "data: live" {}
        Ok(())
    }

    async fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.stream.read_line(&mut line).await? > 0, "the connection ends");
        Ok(line.trim_end().to_owned())
    }
}

async fn connected(host: &str) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(host).await.context("nothing listens")?;
    stream.set_nodelay(true).context("a connection that waits")?;
    Ok(BufReader::new(stream))
}

impl Head {
    fn take(&mut self, line: &str) {
        if let Some(status) = line.strip_prefix("HTTP/1.1 ") {
            self.code = status.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(0);
        }
        let Some((name, value)) = line.split_once(": ") else { return };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => self.length = value.parse().unwrap_or_default(),
            "set-cookie" => self.cookie = value.split(';').next().unwrap_or_default().to_owned(),
            _ => {}
        }
    }
}

/// The address in what was printed, without its scheme.
fn printed(log: &Path) -> Result<String> {
    let text = std::fs::read_to_string(log).context("no log")?;
    let url = text.lines().find_map(|line| line.strip_prefix("http://"));
    Ok(url.context("nothing is printed yet")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_answer_is_read() {
        let mut head = Head::default();
        for line in ["HTTP/1.1 303 See Other", "Content-Length: 12", "set-cookie: a=b; HttpOnly"] {
            head.take(line);
        }
        assert_eq!((head.code, head.length, head.cookie.as_str()), (303, 12, "a=b"));
    }
}
