-- The key that a rotation put in the place of this one, which cannot be replaced again. Null for a credential that
-- was not replaced.
alter table credential add column replaced_by text check (length(replaced_by) <= 64);
grant update (replaced_by) on credential to lukasa_serve;
