-- Many requests of one call, which are submitted one after the other as the limits of use allow.
CREATE TABLE batches (
  batch_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  status text NOT NULL,
  updated_at timestamptz NOT NULL,
  ended_at timestamptz,
  body jsonb NOT NULL
);
CREATE INDEX batches_running ON batches (tenant_id, person_id) WHERE status = 'running';
CREATE INDEX batches_ended ON batches (ended_at);

CREATE TABLE batch_rows (
  batch_id uuid NOT NULL REFERENCES batches ON DELETE CASCADE,
  place integer NOT NULL,
  key text NOT NULL,
  status text NOT NULL DEFAULT 'waiting',
  -- The id of its present or later request.
  request_id uuid NOT NULL,
  -- The body of its request, until the request exists.
  body jsonb,
  problem jsonb,
  PRIMARY KEY (batch_id, place)
);
