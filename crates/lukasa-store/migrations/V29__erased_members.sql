-- Erasing a member of a space removes two things from the operations that the member wrote there: the member, and the
-- credential, whose id would still tell which operations were by the same person.

-- The serving role can remove both at once, and change neither into anything else.
create or replace function remove_operation_member() returns trigger language plpgsql as $$
begin
  if new.member_id is not null and new.member_id is distinct from old.member_id then
    raise exception 'the member of an operation can only be removed' using errcode = 'insufficient_privilege';
  end if;
  if new.credential is distinct from old.credential
     and (new.credential <> 'removed' or old.member_id is null or new.member_id is not null) then
    raise exception 'the credential of an operation can only be removed with its member'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

drop trigger remove_operation_member on operation;
create trigger remove_operation_member before update of member_id, credential on operation
  for each row execute function remove_operation_member();
grant update (credential) on operation to lukasa_serve;
