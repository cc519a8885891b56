//! Who calls an endpoint of this process, and whether they may.
//!
//! ```text
//! authorities   which certificates of callers count
//! identity      who calls: through the front proxy, with a certificate, with a token, anonymous
//! authorize     whether they may: the API server is asked, and its answer kept for seconds
//! ```

mod authorities;
mod authorize;
mod identity;

pub use authorities::{Authorities, AuthoritiesError};
pub(crate) use authorize::Access;
pub use authorize::Authorizer;
pub use identity::User;
pub(crate) use identity::identify;
