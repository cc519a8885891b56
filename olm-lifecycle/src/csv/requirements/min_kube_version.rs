//! `spec.minKubeVersion` against the API server's version (spec olm-operator 2.1).

use olm_types::api::{ClusterServiceVersion, RequirementStatus};
use olm_types::version::Version;

use super::{RequirementVerdict, outcome};
use crate::csv::observed::Observed;

/// One entry, or none when the CSV asks for no version.
pub(super) fn judge(observed: &Observed) -> Option<RequirementVerdict> {
    let minimum = observed.csv.spec.min_kube_version.as_deref().filter(|text| !text.is_empty())?;
    let verdict = compare(minimum, observed.server_version.as_deref());
    let met = verdict.is_ok();
    let (Ok(message) | Err(message)) = verdict;
    let entry = RequirementStatus {
        group: olm_types::api::GROUP.to_owned(),
        version: "v1alpha1".to_owned(),
        kind: ClusterServiceVersion::KIND.to_owned(),
        name: observed.name().to_owned(),
        status: if met { outcome::PRESENT } else { outcome::NOT_SATISFIED }.to_owned(),
        message,
        ..RequirementStatus::default()
    };
    Some(RequirementVerdict { entry, met })
}

fn compare(minimum: &str, server: Option<&str>) -> Result<String, String> {
    let raw = server.ok_or_else(|| "Server version discovery error".to_owned())?;
    let server = raw.strip_prefix('v').unwrap_or(raw);
    let server = server.split('-').next().unwrap_or_default();
    let server = Version::parse(server).map_err(|_| "Server version parsing error".to_owned())?;
    let wanted = Version::parse(minimum.strip_prefix('v').unwrap_or(minimum))
        .map_err(|_| "CSV version parsing error".to_owned())?;
    if wanted > server {
        return Err(format!(
            "CSV version requirement not met: minKubeVersion ({minimum}) > server version ({server})"
        ));
    }
    Ok(format!("CSV minKubeVersion ({minimum}) less than server version ({raw})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::ok(
        "0.0.0",
        Some("v1.33.2"),
        Ok("CSV minKubeVersion (0.0.0) less than server version (v1.33.2)")
    )]
    #[case::equal(
        "v1.33.2",
        Some("v1.33.2-gke.5"),
        Ok("CSV minKubeVersion (v1.33.2) less than server version (v1.33.2-gke.5)")
    )]
    #[case::too_old(
        "999.999.999",
        Some("v1.33.2"),
        Err(
            "CSV version requirement not met: minKubeVersion (999.999.999) > server version (1.33.2)"
        )
    )]
    #[case::garbage("a.b.c", Some("v1.33.2"), Err("CSV version parsing error"))]
    #[case::short("1.20", Some("v1.33.2"), Err("CSV version parsing error"))]
    #[case::server_garbage("1.20.0", Some("x"), Err("Server version parsing error"))]
    #[case::no_server("1.20.0", None, Err("Server version discovery error"))]
    fn comparisons(
        #[case] minimum: &str,
        #[case] server: Option<&str>,
        #[case] expected: Result<&str, &str>,
    ) {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(compare(minimum, server), expected);
    }
}
