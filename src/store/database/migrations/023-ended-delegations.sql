-- When the audit recorded the end of a delegation; null: not yet. Delegations that ended before this version are left out.
ALTER TABLE delegations ADD COLUMN end_noted_at timestamptz;
UPDATE delegations SET end_noted_at = now() WHERE ended_at IS NOT NULL OR until <= now();
CREATE INDEX delegations_not_noted ON delegations (tenant_id) WHERE end_noted_at IS NULL;
