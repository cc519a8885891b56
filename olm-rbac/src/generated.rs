//! What the roles that OLM generates have in common (spec olm-operator 4.6).

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::labels;

/// The three levels of rights that users of an API can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Everything.
    Admin,
    /// Changes.
    Edit,
    /// Reads.
    View,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::Admin, Self::Edit, Self::View];

    /// The last part of names and label keys.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Edit => "edit",
            Self::View => "view",
        }
    }

    /// The verbs that the level allows.
    pub fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::Admin => &["*"],
            Self::Edit => &["create", "update", "patch", "delete"],
            Self::View => &["get", "list", "watch"],
        }
    }
}

/// A rule for one resource of a group; for one object of it when `name` is given.
pub(crate) fn rule(verbs: &[&str], group: &str, resource: &str, name: Option<&str>) -> PolicyRule {
    PolicyRule {
        verbs: verbs.iter().copied().map(str::to_owned).collect(),
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        resource_names: name.map(|name| vec![name.to_owned()]),
        non_resource_urls: None,
    }
}

/// Metadata with a name and labels, the mark of OLM among them.
pub(crate) fn named(name: &str, labels: BTreeMap<String, String>) -> ObjectMeta {
    let mut labels = labels;
    labels.insert(labels::MANAGED.to_owned(), labels::MANAGED_VALUE.to_owned());
    ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() }
}

#[cfg(test)]
pub(crate) mod tests {
    use k8s_openapi::api::rbac::v1::ClusterRole;

    /// `name: verbs group/resource [names]` of a role with one rule.
    pub(crate) fn summary(role: &ClusterRole) -> String {
        let rules = role.rules.as_deref().unwrap_or_default();
        let texts = rules.iter().map(|rule| {
            let join = |list: &Option<Vec<String>>| list.clone().unwrap_or_default().join(",");
            let (groups, resources) = (join(&rule.api_groups), join(&rule.resources));
            let names = join(&rule.resource_names);
            format!("{} {groups}/{resources} [{names}]", rule.verbs.join(","))
        });
        let name = role.metadata.name.as_deref().unwrap_or_default();
        format!("{name}: {}", texts.collect::<Vec<_>>().join("; "))
    }
}
