-- outside a transaction

-- For the erasure of a member, who is removed from the operations that they wrote in a space.
drop index concurrently if exists operation_of_member;
create index concurrently operation_of_member on operation (user_id, member_id) where member_id is not null;
