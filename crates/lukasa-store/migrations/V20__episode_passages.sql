-- Recall finds episodes too: a passage can be a part of an episode, whose id is then its source and its subject.

alter table passage drop constraint passage_kind_check;
alter table passage add constraint passage_kind_check check (kind in ('fact', 'turn', 'episode'));

-- Whether search may find the episode: no turn of it asks to forget something. The turns may not be kept.
alter table episode add column searchable boolean not null default true;
grant update (searchable) on episode to lukasa_serve;
