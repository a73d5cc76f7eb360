//! The space that a request acts in, named by a header. Whether the caller is a member is checked by
//! every transaction of the request, not here.

use axum::http::{HeaderMap, HeaderName};
use lukasa_core::limits::SPACES_AT_ONCE;
use lukasa_core::{Caller, Permission, SpaceName};

use super::App;
use super::code::ErrorCode;
use super::error::Problem;

const SPACE: HeaderName = HeaderName::from_static("x-lukasa-space");

/// The operations that can be done in a space, by their ids. Others refuse the header.
pub(crate) const OPERATIONS_IN_SPACES: [&str; 16] = [
    "confirm_memory",
    "delete_memory",
    "erase_memory",
    "forget_memory",
    "get_memory",
    "get_memory_history",
    "get_operation",
    "list_memories",
    "list_operations",
    "list_proposals",
    "propose_memory",
    "restore_memory",
    "save_memory",
    "search_memories",
    "undo_operation",
    "update_memory",
];

fn space_of(headers: &HeaderMap) -> Result<Option<SpaceName>, Problem> {
    let Some(value) = headers.get(SPACE) else { return Ok(None) };
    let name = std::str::from_utf8(value.as_bytes()).ok().and_then(SpaceName::parse);
    name.map(Some).ok_or_else(|| Problem::of(ErrorCode::MalformedHeader))
}

/// Refuses a request that names a space.
pub(super) fn refuse_space(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.contains_key(SPACE) {
        true => Err(Problem::of(ErrorCode::SpaceUnsupported)),
        false => Ok(()),
    }
}

impl App {
    /// Authenticates a request for an operation that can also be done in a space: if it names one,
    /// the caller acts there as a member. The work is done in the cell of the space, so it takes a
    /// slot of that cell.
    pub(crate) async fn caller_or_member(
        &self,
        headers: &HeaderMap,
        permission: Permission,
    ) -> Result<Caller, Problem> {
        let (admitted, user) = self.admit_user(headers, permission).await?;
        let caller = admitted.caller(&user);
        self.limits().count_user(&caller)?;
        let acting = match space_of(headers)? {
            Some(space) => caller.in_space(&space),
            None => caller.clone(),
        };
        self.limits().take_slot(&caller, self.engine().cell_of(&acting)).await?;
        Ok(acting)
    }
}

/// The space with this name; one with an impossible name does not exist.
pub(crate) fn find_space(name: &str) -> Result<SpaceName, Problem> {
    SpaceName::parse(name).ok_or_else(|| Problem::of(ErrorCode::SpaceNotFound))
}

/// The spaces that a request for a context asks for, each once.
pub(crate) fn parse_spaces(names: Option<&[String]>) -> Result<Vec<SpaceName>, Problem> {
    let names = names.unwrap_or_default();
    if names.len() > SPACES_AT_ONCE {
        return Err(Problem::invalid("spaces", &format!("at most {SPACES_AT_ONCE} names")));
    }
    let mut spaces = names.iter().map(|name| find_space(name)).collect::<Result<Vec<_>, _>>()?;
    spaces.sort();
    spaces.dedup();
    Ok(spaces)
}
