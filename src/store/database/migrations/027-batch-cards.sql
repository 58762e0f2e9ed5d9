-- One card for all rows of a batch: the service updates it, so its place in the chat and its contents are stored.
ALTER TABLE notices ADD COLUMN batch_id uuid;
ALTER TABLE notices ADD COLUMN activity_id text;
ALTER TABLE notices ADD COLUMN shown text;
CREATE INDEX notices_of_batch ON notices (tenant_id, batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX requests_of_batch ON requests (tenant_id, (body -> 'batch' ->> 'batchId'))
  WHERE body -> 'batch' IS NOT NULL;

-- One decision of an approver about several requests, which a job decides one by one.
CREATE TABLE joint_decisions (
  decision_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  place bigint GENERATED ALWAYS AS IDENTITY,
  updated_at timestamptz NOT NULL DEFAULT now(),
  body jsonb NOT NULL,
  -- The result of each decided request, by its id.
  results jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX joint_decisions_by_age ON joint_decisions (updated_at);
CREATE INDEX joint_decisions_of_person ON joint_decisions (person_id);
