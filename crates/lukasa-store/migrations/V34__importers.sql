-- Who imported a source: undo of an import needs the same rights as undo of an operation, and chats and observations
-- are imported without an operation.

-- The kind of the caller and its credential. Both are null for an import from before the columns existed, for one that
-- several callers continued who are not all the user, and for one into a space, whose members are recorded only with
-- its operations. Only the user undoes such an import.
alter table import add column caller text;
alter table import add column credential text;
grant update (caller, credential) on import to lukasa_serve;
