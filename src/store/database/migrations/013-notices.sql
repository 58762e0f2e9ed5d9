-- Notices: cards about no single request, such as health alerts and digests. The primary key ensures that each is sent once.
CREATE TABLE notices (
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  key text NOT NULL,
  state text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, person_id, key)
);
CREATE INDEX notices_by_age ON notices (updated_at);
