//! What the objects behind a server are called (spec olm-operator 3.6).

/// Names derived from the Deployment that serves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServingNames {
    namespace: String,
    domain: String,
}

impl ServingNames {
    /// The names for a Deployment. A Service's name holds no dots, so they become dashes; v0 keeps
    /// them in the Service and not in webhooks.
    pub fn new(namespace: &str, deployment: &str) -> Self {
        Self { namespace: namespace.to_owned(), domain: deployment.replace('.', "-") }
    }

    /// The namespace of the Deployment.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The Service in front of the Deployment.
    pub fn service(&self) -> String {
        format!("{}-service", self.domain)
    }

    /// The Secret with certificate and key, and the Role and RoleBinding that let it be read.
    pub fn secret(&self) -> String {
        format!("{}-cert", self.service())
    }

    /// The ClusterRoleBinding by which an aggregated API asks who its callers are.
    pub fn auth_delegator(&self) -> String {
        format!("{}-system:auth-delegator", self.service())
    }

    /// The RoleBinding in [`super::KUBE_SYSTEM`] by which it learns how the API server asks it.
    pub fn auth_reader(&self) -> String {
        format!("{}-auth-reader", self.service())
    }

    /// The DNS names under which the API server calls; the first is the certificate's subject.
    pub fn hosts(&self) -> Vec<String> {
        let base = format!("{}.{}", self.service(), self.namespace);
        vec![base.clone(), format!("{base}.svc"), format!("{base}.svc.cluster.local")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_v0() {
        let names = ServingNames::new("operators", "cert-manager-webhook");
        assert_eq!(names.service(), "cert-manager-webhook-service");
        assert_eq!(names.secret(), "cert-manager-webhook-service-cert");
        assert_eq!(names.auth_delegator(), "cert-manager-webhook-service-system:auth-delegator");
        assert_eq!(names.auth_reader(), "cert-manager-webhook-service-auth-reader");
        assert_eq!(
            names.hosts(),
            [
                "cert-manager-webhook-service.operators",
                "cert-manager-webhook-service.operators.svc",
                "cert-manager-webhook-service.operators.svc.cluster.local",
            ]
        );
    }

    #[test]
    fn a_service_has_no_dots() {
        assert_eq!(ServingNames::new("ns", "a.b").service(), "a-b-service");
    }
}
