-- Memory that lives: who is looked after at night.

-- Whether a job waits that looks after what is kept about the user. Whoever has nothing that could
-- grow old has none, and costs nothing; the next write brings it back.
alter table users add column looked_after boolean not null default false;
grant update (looked_after) on users to quipu_serve;
