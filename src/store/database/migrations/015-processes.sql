-- The processes of the service, as they report themselves. A process deletes its row when it stops; a killed process leaves its row.
CREATE TABLE processes (
  process_id uuid PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  works boolean NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now()
);

-- The process that checks the health of the service now, and the result of the last checks.
CREATE TABLE health_watch (
  tenant_id uuid PRIMARY KEY,
  holder uuid NOT NULL,
  held_until timestamptz NOT NULL,
  body jsonb
);
