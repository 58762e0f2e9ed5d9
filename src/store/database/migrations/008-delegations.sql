-- Delegates of absent people. A person has one delegation at a time; old ones are deleted.
CREATE TABLE delegations (
  delegation_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  delegate_id uuid NOT NULL,
  until timestamptz NOT NULL,
  ended_at timestamptz,
  body jsonb NOT NULL
);
CREATE UNIQUE INDEX delegations_of_person ON delegations (tenant_id, person_id) WHERE ended_at IS NULL;
CREATE INDEX delegations_until ON delegations (until);
CREATE INDEX delegations_to_person ON delegations (tenant_id, delegate_id) WHERE ended_at IS NULL;
