//! Checks of a transaction that makes a credential. They order it against a revocation of the
//! credential that it is made with, and against the erasure of its user.

use lukasa_core::audit::{ActorKind, AuditActor};
use lukasa_core::{Timestamp, UserId};
use lukasa_store::{Directory, Store, credential, directory};

use crate::error::{Error, Result};

/// Refuses to make a credential with one that has ended: servers admit one for up to a second from
/// their caches. A link, a code and a refresh token are used up in the same transaction instead.
pub(super) async fn refuse_ended(
    directory: &Directory,
    by: &AuditActor,
    now: Timestamp,
) -> Result<()> {
    let has_row = matches!(by.kind, ActorKind::Human | ActorKind::Key | ActorKind::Connector);
    if has_row && !credential::lock_live(directory, &by.credential, now).await? {
        return Err(Error::Unauthenticated);
    }
    Ok(())
}

/// Refuses to make a credential for a deleted user: it would become valid for the next user with
/// that name. The user's own cell has the user's row. An erasure waits for this transaction before it
/// removes the credentials of the user.
pub(super) async fn refuse_deleted_user(
    store: &Store,
    directory: &Directory,
    id: UserId,
    now: Timestamp,
) -> Result<()> {
    credential::announce_new(directory, id).await?;
    let scope = store.read(directory.tenant(), id).await?;
    match directory::me(&scope).await? {
        Some(user) if user.is_gone(now) => Err(Error::UserNotFound),
        _ => Ok(()),
    }
}
