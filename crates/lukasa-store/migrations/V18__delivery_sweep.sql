-- The upkeep of a user removes the user's old deliveries. Without this index the planner may choose the one that
-- leads with the tenant, and then reads the deliveries of all users of the tenant.
create index delivery_of_user on delivery (user_id, last_at);
