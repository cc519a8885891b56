//! Which operators stand in the way of the next version of OpenShift (spec olm-operator 6.7).
//!
//! A CSV may say up to which version of OpenShift it works, in its property
//! `olm.maxOpenShiftVersion`. 4.23 and 5.0 count as one version.

use std::fmt;

use olm_types::annotations::PROPERTIES;
use olm_types::api::ClusterServiceVersion;
use olm_types::properties::annotation;
use olm_types::properties::kinds::MAX_OPENSHIFT_VERSION as MAXIMUM;
use olm_types::version::Version;

/// Most bytes of a version, which messages repeat.
const LONGEST: usize = 256;

/// Why the present version of OpenShift is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The environment does not say it.
    #[error("desired release version missing from RELEASE_VERSION env variable")]
    Missing,
    /// The environment says something else.
    #[error("failed to parse {text:?} as semver: {cause}")]
    Malformed {
        /// What it says.
        text: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// An operator that stands in the way, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible {
    namespace: String,
    name: String,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// It works up to this version.
    Maximum(Minor),
    /// It is unknown.
    Invalid(String),
}

/// Major and minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Minor(u64, u64);

impl Minor {
    fn of(version: &Version) -> Self {
        Self(version.major(), version.minor())
    }

    /// The one under which a version is compared.
    fn unified(self) -> Self {
        if self == Self(4, 23) { Self(5, 0) } else { self }
    }

    fn next(self) -> Self {
        let Self(major, minor) = self.unified();
        Self(major, minor.saturating_add(1)).unified()
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, name, why } = self;
        match why {
            Why::Maximum(version) => {
                write!(f, "maximum supported OCP version for {namespace}/{name} is {version}")
            }
            Why::Invalid(error) => {
                write!(f, "{namespace}/{name} has invalid {MAXIMUM} properties: {error}")
            }
        }
    }
}

/// The operators that do not work with the version after `release`, in the order in which they are
/// reported: invalid ones first, the others reversed, as in v0.
pub(crate) fn incompatible_operators<'a>(
    release: Option<&str>,
    csvs: impl IntoIterator<Item = &'a ClusterServiceVersion>,
) -> Result<Vec<Incompatible>, ReleaseError> {
    let release = release.filter(|text| !text.is_empty()).ok_or(ReleaseError::Missing)?;
    let current = Version::parse_tolerant(release).map_err(|error| ReleaseError::Malformed {
        text: release.to_owned(),
        cause: error.to_string(),
    })?;
    let next = Minor::of(&current).next();
    let mut invalid = Vec::new();
    let mut limited = Vec::new();
    for csv in csvs {
        match maximum(csv) {
            Ok(Some(maximum)) if maximum.unified() < next => {
                limited.push(reported(csv, Why::Maximum(maximum)));
            }
            Ok(_) => {}
            Err(error) => invalid.push(reported(csv, Why::Invalid(error))),
        }
    }
    invalid.extend(limited.into_iter().rev());
    Ok(invalid)
}

fn reported(csv: &ClusterServiceVersion, why: Why) -> Incompatible {
    let namespace = csv.metadata.namespace.clone().unwrap_or_default();
    Incompatible { namespace, name: csv.metadata.name.clone().unwrap_or_default(), why }
}

/// The last version that the CSV works with; `None` when it names none.
fn maximum(csv: &ClusterServiceVersion) -> Result<Option<Minor>, String> {
    let annotations = csv.metadata.annotations.as_ref();
    let Some(text) = annotations.and_then(|all| all.get(PROPERTIES)) else { return Ok(None) };
    let properties = annotation::parse(text).map_err(|error| error.to_string())?;
    let mut named = properties.iter().filter(|property| *property.kind == *MAXIMUM);
    let Some(property) = named.next() else { return Ok(None) };
    if named.next().is_some() {
        return Err(format!("defining more than one {MAXIMUM:?} property is not allowed"));
    }
    let value = property.value.to_string();
    let value = value.trim_matches('"');
    if value.is_empty() {
        return Err("value cannot be \"\" (an empty string)".to_owned());
    }
    if value.len() > LONGEST {
        return Err(format!("value has {} bytes, and may have {LONGEST}", value.len()));
    }
    let version = Version::parse_tolerant(value)
        .map_err(|error| format!("failed to parse {value:?} as semver: {error}"))?;
    if version.patch() != 0 || !version.pre().is_empty() {
        return Err(format!(
            "property {MAXIMUM} must specify only <major>.<minor> version, got invalid value {value}"
        ));
    }
    Ok(Some(Minor::of(&version)))
}
