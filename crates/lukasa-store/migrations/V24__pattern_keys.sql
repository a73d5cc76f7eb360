-- Noted patterns with keyed digests, patterns that admission rejected, and observations of undone imports.

-- The digests so far were plain hashes: who knows the user's id could have guessed what they stand for. From now
-- on a digest is an HMAC with a key that is derived from the installation's key and the user. The old ones cannot
-- be converted. A pattern that has a memory, in any state, is not noted again without them.
truncate noted_pattern;

-- Set if admission rejected the pattern: when it did so last. Such patterns are looked at again, after all new
-- ones. Null if the pattern was noted.
alter table noted_pattern add column rejected_at timestamptz;
grant update (rejected_at) on noted_pattern to lukasa_serve;

-- Whether the import it came with was undone. While it is in the trash, importing the same source again replaces
-- it; other observations in the trash stay there.
alter table observation add column import_undone boolean not null default false;
grant update (import_undone) on observation to lukasa_serve;
