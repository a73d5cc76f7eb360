-- Whether an embedding is of a turn, so that the covering index of embeddings can leave turns out. False also of
-- turns that were embedded before, until their session is packed.
alter table embedding add column of_turn boolean not null default false;

-- Texts of more than two kilobytes stay with their row if they can: a row elsewhere has an index entry of its own. They
-- are compressed as before.
alter table turn alter column content set storage main;
alter table retrieval alter column dynamic set storage main;
alter table retrieval alter column trace set storage main;
