-- The processes of the service, each by its own word. One that stops in order takes its row along; one that is killed leaves it.
CREATE TABLE processes (
  process_id uuid PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  works boolean NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now()
);

-- Who looks after the health of the service just now, and what the last looks have come to.
CREATE TABLE health_watch (
  tenant_id uuid PRIMARY KEY,
  holder uuid NOT NULL,
  held_until timestamptz NOT NULL,
  body jsonb
);
