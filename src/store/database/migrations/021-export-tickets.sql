-- Issued links to exports. The hash is the SHA-256 of a link's random part, so that a row alone opens nothing.
CREATE TABLE export_tickets (
  hash text PRIMARY KEY,
  tenant_id uuid NOT NULL,
  what text NOT NULL,
  format text NOT NULL,
  from_day text NOT NULL,
  to_day text NOT NULL,
  person_id uuid,
  issued_by uuid NOT NULL,
  issued_at timestamptz NOT NULL,
  until timestamptz NOT NULL,
  used_at timestamptz,
  CHECK (until <= issued_at + interval '15 minutes')
);
CREATE INDEX export_tickets_by_end ON export_tickets (until);

-- The key that seals links is now derived from a secret outside the database.
DELETE FROM settings WHERE name = 'export-key';

-- Keys of refused calls. Callers may still repeat calls of the last hour, so these rows stay until they expire.
DELETE FROM idempotency_keys
WHERE answer IS NULL AND fingerprint IS NULL AND keep_until < now() + interval '6 days 23 hours';
