-- The latest ended requests of each kind, for the health of the service.
CREATE INDEX requests_by_end ON requests (tenant_id, kind, updated_at DESC) WHERE status IN ('succeeded', 'failed');

-- The start of retention, which admins get announced before it removes anything.
CREATE TABLE retention_starts (
  tenant_id uuid PRIMARY KEY,
  days integer NOT NULL,
  starts_at timestamptz NOT NULL,
  count integer NOT NULL
);

-- Requests whose resource no longer exists in the tenant: they do not count towards the quota of their template.
CREATE TABLE gone_resources (
  request_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  gone_since timestamptz NOT NULL
);
