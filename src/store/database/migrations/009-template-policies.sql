-- The counters of numbered names: one row for all names that differ only in their number.
CREATE TABLE name_counters (
  tenant_id uuid NOT NULL,
  scope text NOT NULL,
  last_number integer NOT NULL,
  PRIMARY KEY (tenant_id, scope)
);

-- The number of resources of a template, which is read if its policy has a quota.
CREATE INDEX requests_by_template ON requests (tenant_id, (body -> 'template' ->> 'id'), status);
