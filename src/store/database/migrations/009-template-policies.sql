-- The numbers in names that have a counter: one row for each name that differs in its number only.
CREATE TABLE name_counters (
  tenant_id uuid NOT NULL,
  scope text NOT NULL,
  last_number integer NOT NULL,
  PRIMARY KEY (tenant_id, scope)
);

-- How much was made of a template, which is asked where its policy sets a bound.
CREATE INDEX requests_by_template ON requests (tenant_id, (body -> 'template' ->> 'id'), status);
