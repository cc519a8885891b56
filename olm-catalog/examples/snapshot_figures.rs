//! What snapshots of catalogs cost a controller: memory while they are held, and time to load one
//! again. What is above its limit fails.
//!
//! ```text
//! cargo xtask bench --release snapshots FOLDER...
//! ```
//! Each folder is served by a process of its own, so that only the controller's side is measured.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use olm_catalog::connection::CatalogConnection;
use olm_catalog::fbc::ReadLimits;
use olm_catalog::index::Index;
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_catalog::registry::server::{ServerOptions, serve};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_types::bundle::CatalogKey;
use tokio::net::TcpListener;

/// How often a catalog is loaded again; the median counts.
const ROUNDS: usize = 5;
/// Bytes of a page, in which the system counts memory.
const PAGE: usize = 4_096;

/// Most that the snapshots may take together, in MB: the two catalogs that people use most.
const HELD: f64 = 15.0;
/// Longest time in which one is loaded again, in milliseconds.
const REFRESH: f64 = 300.0;

type Failure = Box<dyn std::error::Error>;

/// The first argument of the processes that serve.
const SERVE: &str = "--serve";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, folder] if flag == SERVE => serve_folder(Path::new(folder)).await,
        [] => Err("name the folders of catalogs".into()),
        folders => measure(folders).await,
    }
}

async fn serve_folder(folder: &Path) -> Result<(), Failure> {
    let index = Arc::new(Index::build(folder, &ReadLimits::default(), None)?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    serve(listener, index, ServerOptions::default(), std::future::pending()).await?;
    Ok(())
}

async fn measure(folders: &[String]) -> Result<(), Failure> {
    let mut servers = Vec::new();
    for folder in folders {
        servers.push((folder, Server::start(folder)?));
    }
    let mut clients = Vec::new();
    for (folder, server) in &servers {
        let key = CatalogKey::new("bench", folder);
        clients.push(RegistryClient::open(key, &server.address, ClientOptions::default())?);
    }
    // Connections and their buffers are there before anything is counted.
    for client in &clients {
        client.calls().list_packages(olm_catalog::registry::proto::ListPackageRequest {}).await?;
    }
    let before = resident()?;
    let mut held: Vec<CatalogSnapshot> = Vec::new();
    for client in &clients {
        held.push(client.load().await?);
    }
    let grown = resident()?.saturating_sub(before);
    let mut is_within_limits = true;
    for (client, snapshot) in clients.iter().zip(&held) {
        let refresh = refresh(client).await?.as_secs_f64() * 1e3;
        let what = format!("{}: {} entries, loaded in", snapshot.key(), snapshot.entries().len());
        is_within_limits &= judge(&what, refresh, REFRESH, "ms");
    }
    is_within_limits &= judge("held together:", grown as f64 / 1e6, HELD, "MB");
    if is_within_limits { Ok(()) } else { Err("a figure is above its limit".into()) }
}

/// Prints a figure; whether it is within its limit.
fn judge(what: &str, measured: f64, limit: f64, unit: &str) -> bool {
    let is_within = measured <= limit;
    let verdict = if is_within { "" } else { "  TOO MUCH" };
    println!("{what} {measured:.1} {unit}, limit {limit} {unit}{verdict}");
    is_within
}

async fn refresh(client: &RegistryClient) -> Result<Duration, Failure> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        drop(client.load().await?);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(ROUNDS / 2).copied().unwrap_or_default())
}

/// Memory of this process in bytes.
fn resident() -> Result<usize, Failure> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages = text.split(' ').nth(1).ok_or("the system does not count memory")?;
    Ok(pages.parse::<usize>()? * PAGE)
}

struct Server {
    address: String,
    process: Child,
}

impl Server {
    fn start(folder: &str) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([SERVE, folder]).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        Ok(Self { address: address.trim().to_owned(), process })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that ended by itself is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
