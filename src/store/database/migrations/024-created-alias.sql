-- The alias that a site got: the naming policy of the tenant may have changed the requested one. Capitals make no other address.
CREATE INDEX requests_by_created_alias
  ON requests (tenant_id, lower(coalesce(body -> 'progress' -> 'createdAs' ->> 'alias', body ->> 'alias')));
