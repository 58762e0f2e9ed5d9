-- When the audit was told that a delegation has ended; null: not yet. Those that were over before this version are left out.
ALTER TABLE delegations ADD COLUMN end_noted_at timestamptz;
UPDATE delegations SET end_noted_at = now() WHERE ended_at IS NOT NULL OR until <= now();
CREATE INDEX delegations_not_noted ON delegations (tenant_id) WHERE end_noted_at IS NULL;
