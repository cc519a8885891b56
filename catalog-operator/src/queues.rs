//! What is to be done, as keys.

use olm_kit::ObjectKey;
use olm_kit::queue::Queue;

/// One queue per controller. Clones share them.
#[derive(Clone)]
pub struct Queues {
    /// CatalogSources.
    pub catalogs: Queue<ObjectKey>,
    /// CatalogSources whose packages are shown.
    pub packages: Queue<ObjectKey>,
    /// Subscriptions, each by itself.
    pub subscriptions: Queue<ObjectKey>,
    /// Namespaces to resolve.
    pub namespaces: Queue<String>,
    /// InstallPlans.
    pub plans: Queue<ObjectKey>,
}

impl Queues {
    /// Empty queues.
    pub fn new() -> Self {
        Self {
            catalogs: Queue::new(),
            packages: Queue::new(),
            subscriptions: Queue::new(),
            namespaces: Queue::new(),
            plans: Queue::new(),
        }
    }
}
