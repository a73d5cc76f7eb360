//! The user that a request is about: of the credential, or named by a header.

use axum::http::{HeaderMap, HeaderName};
use lukasa_engine::credentials::VerifiedCredential;

use super::code::ErrorCode;
use super::error::Problem;
use super::space::refuse_space;
use super::{App, LOCAL_USER};

pub(crate) const USER: HeaderName = HeaderName::from_static("x-lukasa-user");

/// The user a request is about: the credential's own, or the one the header names. The request must
/// not name a space: a protocol without spaces must not answer from the user's own memory instead.
pub(crate) fn user_of(
    app: &App,
    admitted: &VerifiedCredential,
    headers: &HeaderMap,
) -> Result<String, Problem> {
    let user = user_or_member(app, admitted, headers)?;
    refuse_space(headers)?;
    Ok(user)
}

/// The user a request is about, who may also be a member of the space that it names.
pub(super) fn user_or_member(
    app: &App,
    admitted: &VerifiedCredential,
    headers: &HeaderMap,
) -> Result<String, Problem> {
    let named = match headers.get(USER) {
        None => None,
        // Applications use names beyond ASCII as ids.
        Some(value) => {
            let name = std::str::from_utf8(value.as_bytes());
            Some(name.map_err(|_| Problem::of(ErrorCode::MalformedHeader))?.trim())
        }
    };
    match (&admitted.user, named) {
        (Some((_, bound)), Some(named)) if bound != named => Err(Problem::of(ErrorCode::WrongUser)),
        (Some((_, bound)), _) => Ok(bound.clone()),
        (None, Some(named)) if is_user_name(named) => Ok(named.to_owned()),
        (None, Some(_)) => Err(Problem::of(ErrorCode::MalformedHeader)),
        (None, None) if app.is_local() => Ok(LOCAL_USER.to_owned()),
        (None, None) => Err(Problem::of(ErrorCode::UserRequired)),
    }
}

fn is_user_name(text: &str) -> bool {
    (1..=lukasa_core::limits::NAME_CHARS).contains(&text.chars().count())
        && !text.chars().any(char::is_control)
}
