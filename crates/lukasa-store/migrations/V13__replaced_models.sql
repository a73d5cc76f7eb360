-- Vectors of an embedding model are removed a day after another one took its place, and not while they are computed for
-- a model that is not in use yet.

-- Since when another model is used instead; null for the model in use, and for one that is embedded with to be used.
alter table embedding_model add column replaced_at timestamptz;
