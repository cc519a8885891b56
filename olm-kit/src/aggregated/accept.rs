//! In which form a caller wants an answer.

/// A form of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As they are.
    Objects,
    /// A table, for people; with the version of `meta.k8s.io` that it is written in.
    Table(&'static str),
    /// Only their metadata.
    Metadata(&'static str),
}

/// The first form in an Accept header that is offered here. Without one objects are given as they
/// are, in JSON.
pub(super) fn form(accept: &str) -> Form {
    let parts = accept.split(',').map(str::trim);
    parts.filter_map(one).next().unwrap_or(Form::Objects)
}

fn one(part: &str) -> Option<Form> {
    let mut pieces = part.split(';').map(str::trim);
    let media = pieces.next().unwrap_or_default();
    if !matches!(media, "application/json" | "application/*" | "*/*") {
        return None;
    }
    let (mut what, mut version) = ("", "v1");
    for piece in pieces {
        match piece.split_once('=') {
            Some(("as", value)) => what = value,
            Some(("v", "v1beta1")) => version = "v1beta1",
            _ => {}
        }
    }
    match what {
        "" => Some(Form::Objects),
        "Table" => Some(Form::Table(version)),
        "PartialObjectMetadata" | "PartialObjectMetadataList" => Some(Form::Metadata(version)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::nothing("", Form::Objects)]
    #[case::json("application/json", Form::Objects)]
    #[case::kubectl(
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
        Form::Table("v1")
    )]
    #[case::old("application/json;as=Table;v=v1beta1;g=meta.k8s.io", Form::Table("v1beta1"))]
    #[case::protobuf_first(
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        Form::Metadata("v1")
    )]
    #[case::unknown_form("application/json;as=Picture,application/json", Form::Objects)]
    fn forms(#[case] accept: &str, #[case] expected: Form) {
        assert_eq!(form(accept), expected);
    }
}
