//! Roles, ClusterRoles and their bindings.

use olm_effect::{Action, Resource, Target};
use olm_types::api::{Step, StepResource};
use serde_json::Value;

use super::draft::{Draft, named_csvs, object_target, patch};
use super::{Scope, StepError, StepHandler, StepMessages};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Handler of Role steps.
pub(super) const ROLES: Rbac = Rbac {
    kind: "Role",
    plural: "roles",
    namespaced: true,
    exact: &["rules"],
    messages: StepMessages {
        create: "error creating role ",
        read: "error updating role ",
        update: "error updating role ",
        owner: "role ",
    },
};
/// Handler of RoleBinding steps.
pub(super) const ROLE_BINDINGS: Rbac = Rbac {
    kind: "RoleBinding",
    plural: "rolebindings",
    namespaced: true,
    exact: &["subjects"],
    messages: StepMessages {
        create: "error creating rolebinding ",
        read: "error updating rolebinding ",
        update: "error updating rolebinding ",
        owner: "rolebinding ",
    },
};
/// Handler of ClusterRole steps.
pub(super) const CLUSTER_ROLES: Rbac = Rbac {
    kind: "ClusterRole",
    plural: "clusterroles",
    namespaced: false,
    exact: &["rules", "aggregationRule"],
    messages: StepMessages {
        create: "error creating clusterrole ",
        read: "error updating clusterrole ",
        update: "error updating clusterrole ",
        owner: "clusterrole ",
    },
};
/// Handler of ClusterRoleBinding steps.
pub(super) const CLUSTER_ROLE_BINDINGS: Rbac = Rbac {
    kind: "ClusterRoleBinding",
    plural: "clusterrolebindings",
    namespaced: false,
    exact: &["subjects"],
    messages: StepMessages {
        create: "error creating clusterrolebinding ",
        read: "error updating clusterrolebinding ",
        update: "error updating clusterrolebinding ",
        owner: "clusterrolebinding ",
    },
};

/// Handler of one RBAC kind.
pub(super) struct Rbac {
    kind: &'static str,
    plural: &'static str,
    namespaced: bool,
    /// Fields that become exactly what the step wants.
    exact: &'static [&'static str],
    messages: StepMessages,
}

impl Rbac {
    fn resource(&self) -> Resource {
        Resource::new(GROUP, "v1", self.kind, self.plural)
    }

    fn namespace<'a>(&self, scope: &'a Scope) -> Option<&'a str> {
        self.namespaced.then_some(scope.namespace.as_str())
    }
}

impl StepHandler for Rbac {
    fn handles(&self, resource: &StepResource) -> bool {
        // v0 looks at the kind alone, so a plan that a tool wrote may leave the group out.
        resource.kind == self.kind && (resource.group == GROUP || resource.group.is_empty())
    }

    fn messages(&self) -> StepMessages {
        self.messages
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(self.resource(), self.namespace(scope), step, desired)
    }

    fn reads(&self, scope: &Scope, _: &Step, manifest: &Value) -> Vec<Target> {
        if self.namespaced { named_csvs(scope, manifest) } else { Vec::new() }
    }

    /// v0 labels a cluster-scoped object with `olm.owner` only when it finds it in place; since it
    /// usually executes an automatic plan twice, the label is always there. Here it is set at once.
    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let draft = Draft::new(step, &self.resource(), self.messages, manifest)?
            .place(self.namespace(scope))?;
        let draft = match (self.namespaced, step.resolving.as_str()) {
            (true, _) => draft.refresh_owners(scope)?,
            (false, "") => draft,
            (false, csv) => draft.label(olm_types::labels::OWNER, csv)?,
        };
        Ok(draft.finish())
    }

    fn on_existing(&self, desired: &Value, live: &Value) -> Option<Action> {
        patch(live, desired, self.exact)
    }
}
