-- The alias of a created site, which the tenant's naming policy may have changed. Addresses ignore case.
CREATE INDEX requests_by_created_alias
  ON requests (tenant_id, lower(coalesce(body -> 'progress' -> 'createdAs' ->> 'alias', body ->> 'alias')));
