//! What a registry answers, read with bounds: bytes, and how long a piece may take.

use ::http::{Response, Uri};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use olm_types::document::{Budget, json_as};
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use super::http::{SLOWEST, shown, slow, unreachable};
use super::{ImageError, ImageReference};

/// Bytes that have to come in [`SLOWEST`]; so a server that sends a byte now and then is left.
const STEP: usize = 1 << 20;
/// Most bytes of an error that are read.
const ERROR: usize = 8 << 10;
/// Longest error code of a registry.
const CODE: usize = 64;

/// An answer, whose content is not read yet.
pub(super) struct RegistryResponse {
    pub(super) url: Uri,
    pub(super) response: Response<Incoming>,
}

/// The content of an answer, piece by piece.
pub(super) struct Content {
    url: Uri,
    body: Incoming,
    /// Bytes of the current step.
    step: usize,
    deadline: Instant,
}

impl RegistryResponse {
    pub(super) fn code(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// The answer, if it is what was asked for: `what`, of an image.
    pub(super) async fn granted(
        self,
        image: &ImageReference,
        what: &str,
    ) -> Result<Self, ImageError> {
        match self.code() {
            200 => Ok(self),
            404 => Err(ImageError::NotFound(what.to_owned())),
            401 | 403 => Err(unauthorized(image, "the credentials have no right to pull it")),
            _ => Err(self.failed().await),
        }
    }

    /// The content, which is about `what`, if it is not longer than `limit`.
    pub(super) async fn bytes(self, what: &str, limit: u64) -> Result<Vec<u8>, ImageError> {
        let too_much = || ImageError::TooMuch { what: what.to_owned(), limit, unit: "bytes" };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (bytes, whole) = self.content().beginning(limit).await?;
        if whole { Ok(bytes) } else { Err(too_much()) }
    }

    /// The content, which is about `what`, if it has `size` bytes.
    pub(super) async fn exactly(self, what: &str, size: u64) -> Result<Vec<u8>, ImageError> {
        let announced = self.length();
        let limit = usize::try_from(size).unwrap_or(usize::MAX);
        let (bytes, whole) = self.content().beginning(limit).await?;
        match bytes.len() as u64 {
            found if whole && found == size => Ok(bytes),
            found if whole => Err(wrong_length(what, size, Some(found))),
            _ => Err(wrong_length(what, size, announced)),
        }
    }

    /// How many bytes the content has, if the server says so.
    pub(super) fn length(&self) -> Option<u64> {
        self.response.body().size_hint().exact()
    }

    /// The error that this answer is. Of its content only a registry's error code is repeated: the
    /// server may be one that only this process can ask.
    pub(super) async fn failed(self) -> ImageError {
        let (url, code) = (shown(&self.url), self.code());
        match self.content().beginning(ERROR).await {
            Ok((bytes, _)) => ImageError::Status { url, code, error: error_code(&bytes) },
            Err(error) => error,
        }
    }

    /// The content, which may be of any length.
    pub(super) fn content(self) -> Content {
        let (url, body) = (self.url, self.response.into_body());
        Content { url, body, step: 0, deadline: Instant::now() + SLOWEST }
    }
}

impl Content {
    /// The next piece; none at the end.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, ImageError> {
        loop {
            let frame = timeout_at(self.deadline, self.body.frame()).await;
            let Some(frame) = frame.map_err(|_| slow(&self.url))? else { return Ok(None) };
            let frame = frame.map_err(|error| unreachable(&self.url, &error))?;
            let Ok(data) = frame.into_data() else { continue };
            self.step += data.len();
            if self.step >= STEP {
                (self.step, self.deadline) = (0, Instant::now() + SLOWEST);
            }
            return Ok(Some(data));
        }
    }

    /// At most `limit` bytes, and whether that is all.
    async fn beginning(mut self, limit: usize) -> Result<(Vec<u8>, bool), ImageError> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece().await? {
            let free = limit.saturating_sub(bytes.len());
            bytes.extend_from_slice(piece.get(..free.min(piece.len())).unwrap_or_default());
            if piece.len() > free {
                return Ok((bytes, false));
            }
        }
        // It grew to up to twice what it holds.
        bytes.shrink_to_fit();
        Ok((bytes, true))
    }
}

/// The registry does not let us have an image.
pub(super) fn unauthorized(image: &ImageReference, why: &str) -> ImageError {
    ImageError::Unauthorized {
        image: image.to_string(),
        host: image.host().to_owned(),
        why: why.to_owned(),
    }
}

/// The content of something has another length than its descriptor says: `found`, or more than that.
/// A connection that ends early is an error of its own, so a shorter content is all that the registry has.
pub(super) fn wrong_length(what: &str, expected: u64, found: Option<u64>) -> ImageError {
    let found = found.map_or_else(|| "more".to_owned(), |found| found.to_string());
    ImageError::Length { what: what.to_owned(), expected, found }
}

/// The first error code in an answer (OCI distribution specification, error codes).
fn error_code(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Errors {
        errors: Vec<Code>,
    }
    #[derive(Deserialize)]
    struct Code {
        code: String,
    }
    let errors: Errors = json_as(answer, &Budget::PROPERTY).ok()?;
    let code = errors.errors.into_iter().next()?.code;
    let is_word = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (!code.is_empty() && code.len() <= CODE && code.bytes().all(is_word)).then_some(code)
}
