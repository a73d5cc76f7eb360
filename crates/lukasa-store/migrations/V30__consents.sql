-- Consents and instructions of the user that every later read obeys.

-- Whether the user lets memories that are inferred about the domain be used without asking for each of them.
alter table user_domain add column admits_inferred boolean not null default false;
grant update (admits_inferred) on user_domain to lukasa_serve;

-- Whether the memory may be used but not mentioned: prompts carry the instruction with its line.
alter table fact_version add column unmentioned boolean not null default false;
