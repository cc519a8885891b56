//! What a scenario is.

use std::fmt;
use std::sync::Arc;

use anyhow::Result;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::TestContext;

/// Something that is true on any cluster with OLM, and the steps that show it.
pub struct Scenario {
    /// Folder and function, `install::an_operator`.
    pub name: &'static str,
    /// One line for a reader.
    pub about: &'static str,
    /// What the cluster must be capable of.
    pub needs: Vec<Need>,
    /// Which others may run at the same time.
    pub beside: RunsWith,
    steps: Steps,
}

/// Which scenarios may run at the same time as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsWith {
    /// All that do not run alone.
    Others,
    /// The same, but none that makes global catalogs, too.
    OthersWithoutGlobalCatalogs,
    /// None: it disturbs them.
    None,
    /// None, and nothing that keeps the machine busy: it shows what clients notice within a second.
    NothingAtAll,
}

type Steps = Box<dyn Fn(Arc<TestContext>) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Something that not every cluster has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A node that starts containers.
    Containers,
    /// An image whose container runs until it is asked to end, and serves HTTP.
    Workload,
    /// A registry of images that tests can push to and nodes pull from.
    Registry,
    /// The operators of OLM run as Pods of the cluster.
    OlmPods,
    /// kubectl, and a kubeconfig with the rights of an administrator.
    Kubectl,
    /// Nodes are simulated, so that a scenario may report in a kubelet's place.
    Simulation,
    /// A browser on this machine.
    Browser,
    /// axe-core, which finds what keeps users out of a page.
    Axe,
}

impl Need {
    /// Whether it is about the machine on which scenarios are played, and not about the cluster.
    #[must_use]
    pub const fn is_of_the_machine(self) -> bool {
        matches!(self, Self::Browser | Self::Axe)
    }
}

/// A scenario that needs nothing and disturbs no other.
pub fn scenario<F, S>(name: &'static str, about: &'static str, steps: S) -> Scenario
where
    F: Future<Output = Result<()>> + Send + 'static,
    S: Fn(Arc<TestContext>) -> F + Send + Sync + 'static,
{
    let steps: Steps = Box::new(move |ctx| steps(ctx).boxed());
    Scenario { name, about, needs: Vec::new(), beside: RunsWith::Others, steps }
}

impl Scenario {
    /// Runs only where these are there.
    #[must_use]
    pub fn needs(self, needs: &[Need]) -> Self {
        Self { needs: needs.to_vec(), ..self }
    }

    /// Runs alone.
    #[must_use]
    pub fn exclusive(self) -> Self {
        Self { beside: RunsWith::None, ..self }
    }

    /// Runs alone, once nothing keeps the machine busy.
    #[must_use]
    pub fn undisturbed(self) -> Self {
        Self { beside: RunsWith::NothingAtAll, ..self }
    }

    /// Makes catalogs that every namespace sees, or must see none of others: only one such scenario runs at a time.
    #[must_use]
    pub fn makes_global_catalogs(self) -> Self {
        Self { beside: RunsWith::OthersWithoutGlobalCatalogs, ..self }
    }

    /// Goes through the steps.
    pub async fn play(&self, ctx: Arc<TestContext>) -> Result<()> {
        (self.steps)(ctx).await
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("name", &self.name).field("needs", &self.needs).finish()
    }
}
