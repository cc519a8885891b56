//! The files, and what is said when they cannot be made. That a cluster takes them is for the
//! scenarios of olm-testkit.

use clap::Parser;
use rstest::rstest;

use super::*;

#[derive(Debug, Parser)]
struct Command {
    #[command(flatten)]
    arguments: Arguments,
}

fn parse(flags: &[&str]) -> Result<Arguments, String> {
    let flags = std::iter::once("manifests").chain(flags.iter().copied());
    Command::try_parse_from(flags)
        .map(|command| command.arguments)
        .map_err(|error| error.to_string())
}

fn rendered(flags: &[&str]) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    // A folder that is not there yet.
    let out = dir.path().join("a/b");
    let mut arguments = parse(flags).unwrap();
    arguments.out = Some(out.clone());
    run(&arguments).unwrap();
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    (read(DEFINITIONS), read(OBJECTS))
}

#[test]
fn two_files_the_same_each_time() {
    let (definitions, objects) = rendered(&[]);
    assert_eq!(definitions.matches("\nkind: CustomResourceDefinition\n").count(), 8);
    assert_eq!(definitions.matches("\n---\n").count(), 8);
    assert_eq!(objects.matches("\nkind: Deployment\n").count(), 2);
    assert_eq!(objects.matches(DEFAULT_IMAGE).count(), 3);
    assert_eq!((definitions, objects), rendered(&[]));
}

#[test]
fn image_and_replicas() {
    let image = "registry.example.com:5000/team/olm-rs@sha256:\
        8ad2d7ddd04e4d4a4d6cba0a3c7e6dfe3d4b0b0f4bf1e3b8c4ad7f8a8d1f0c55";
    let (definitions, objects) = rendered(&["--image", image, "--replicas", "0"]);
    assert_eq!(definitions, rendered(&[]).0);
    assert_eq!(objects.matches(image).count(), 3);
    assert!(!objects.contains(DEFAULT_IMAGE));
    assert_eq!(objects.matches("\n  replicas: 0\n").count(), 2);
}

/// What is left of the usual name is that of a ClusterRole, which v0 has in every namespace.
#[test]
fn the_namespace_of_v0s_release_files() {
    let (definitions, objects) = rendered(&["--namespace", "olm"]);
    let (usual_definitions, usual) = rendered(&[]);
    assert_eq!(definitions, usual_definitions);
    let left = objects.lines().filter(|line| line.contains(OLM_NAMESPACE));
    assert!(
        left.clone().all(|line| line.ends_with("system:controller:operator-lifecycle-manager"))
    );
    assert_eq!(left.count(), 2);
    let count = |text: &str, what: &str| text.lines().filter(|line| line.trim() == what).count();
    let in_usual = count(&usual, "namespace: operator-lifecycle-manager");
    assert_eq!(count(&objects, "namespace: olm"), in_usual);
    assert_eq!((count(&objects, "name: olm"), count(&objects, "- olm")), (1, 1));
}

#[rstest]
#[case::capital("Olm")]
#[case::dash_at_the_end("olm-")]
#[case::empty("")]
#[case::two_words("o lm")]
fn unusable_namespaces(#[case] name: &str) {
    let error = parse(&["--namespace", name]).unwrap_err();
    assert!(error.contains("small letters, digits and dashes"), "{error}");
}

#[rstest]
#[case::empty("", "invalid reference format")]
#[case::spaces("olm rs", "invalid reference format")]
#[case::upper_case("registry.example.com/Team/olm", "repository name must be lowercase")]
#[case::cut_off("registry.example.com/olm@sha256:8ad2", "invalid reference format")]
#[case::digest_too_short(
    "registry.example.com/olm@sha256:8ad2d7ddd04e4d4a4d6cba0a3c7e6dfe",
    "invalid checksum digest length"
)]
#[case::url("https://registry.example.com/olm", "invalid reference format")]
fn unusable_images(#[case] image: &str, #[case] expected: &str) {
    let error = parse(&["--image", image]).unwrap_err();
    assert!(error.contains(&format!("invalid value '{image}' for '--image <REF>'")), "{error}");
    assert!(error.contains(expected), "{error}");
    assert!(error.contains("named like registry.example.com:5000/team/olm-rs:v1"), "{error}");
}

#[test]
fn replicas_are_a_number() {
    let error = parse(&["--replicas", "-1"]).unwrap_err();
    assert!(error.contains("-1"), "{error}");
    let error = parse(&["--replicas=-1"]).unwrap_err();
    assert!(error.contains("-1 is not in 0.."), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let taken = dir.path().join("file");
    fs::write(&taken, "no folder").unwrap();
    let error = write(&taken, &Options::default()).unwrap_err();
    let expected = format!("cannot create the folder {}; --out names", taken.display());
    assert!(error.to_string().starts_with(&expected), "{error:#}");
    let folder = dir.path().join("out");
    fs::create_dir_all(folder.join(OBJECTS)).unwrap();
    let error = write(&folder, &Options::default()).unwrap_err();
    assert!(error.to_string().contains(OBJECTS), "{error:#}");
}
