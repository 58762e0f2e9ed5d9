-- The alias that a team site got, where the naming policy of the tenant changed the requested one.
CREATE INDEX requests_by_created_alias ON requests (tenant_id, (body -> 'progress' -> 'createdAs' ->> 'alias'));
