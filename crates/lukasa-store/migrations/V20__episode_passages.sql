-- Recall finds episodes too: a passage can be a part of an episode, whose id is then its source and its subject.

alter table passage drop constraint passage_kind_check;
alter table passage add constraint passage_kind_check check (kind in ('fact', 'turn', 'episode'));
