//! What a controller binary needs to run well in a cluster. Knows no OLM rule.
//!
//! A binary is put together from these parts, in this order:
//!
//! 1. [`flags`], [`logging`] and [`shutdown`]: how the process is configured, how it talks and
//!    how it ends.
//! 2. [`tasks`]: the set of long-running tasks; the process ends when a critical one does.
//! 3. [`client`]: a connection to the API server, with one TLS provider, timeouts and retries.
//! 4. [`watch`]: one watch per kind that keeps a shared, ordered [`watch::Store`] up to date.
//! 5. [`queue`] and [`controller`]: changes become keys, keys become calls of a
//!    [`controller::Reconciler`], failures wait with back-off.
//! 6. [`interpreter`]: the only place that writes; executes [`olm_effect::Effect`]s in order.
//! 7. [`events`]: Kubernetes events, aggregated and rate-limited.
//! 8. [`discovery`]: which kinds the API server serves, and under which plural; [`live`]: objects
//!    that no store holds.
//! 9. [`metrics`] and [`admin`]: what the process says about itself over HTTP.
//! 10. [`certificates`]: issued for servers inside the cluster; [`shared_key`]: a key that several
//!     processes share.
//! 11. [`aggregated`]: a read-only API that kube-apiserver aggregates; [`tls`] and [`callers`]:
//!     how endpoints show who they are, and find out who calls.
//! 12. [`leader`]: which of several replicas acts.
//! 13. [`tasks::in_place`]: work on large texts, beside the tasks that wait for the same thread.
//! 14. [`clock`]: the time, for functions that read none.
//!
//! Feature `otlp` adds a module of that name: spans for an OpenTelemetry collector.
//!
//! ```
//! use std::time::Duration;
//!
//! use olm_kit::ObjectKey;
//! use olm_kit::queue::Queue;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let queue = Queue::new();
//! queue.add(ObjectKey::namespaced("team", "etcd"));
//! queue.add(ObjectKey::namespaced("team", "etcd"));
//! let key = queue.next().await;
//! assert_eq!((key.to_string().as_str(), queue.len()), ("team/etcd", 0));
//! assert_eq!(queue.retry(key.clone()), Duration::from_millis(5));
//! queue.done(&key);
//! # }
//! ```

pub mod admin;
pub mod aggregated;
pub mod callers;
mod cause;
pub mod certificates;
pub mod client;
pub mod clock;
pub mod controller;
pub mod discovery;
pub mod events;
pub mod flags;
pub mod interpreter;
pub mod key;
pub mod leader;
mod listen;
pub mod live;
pub mod logging;
pub mod metrics;
#[cfg(feature = "otlp")]
pub mod otlp;
mod page;
mod path;
pub mod queue;
mod received;
#[cfg(test)]
mod scripted;
pub mod shared_key;
pub mod shutdown;
pub mod tasks;
pub mod tls;
mod typed;
pub mod watch;

pub use key::ObjectKey;
