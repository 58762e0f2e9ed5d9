-- The entries of a period by time, so that statistics stay fast with any number of earlier entries.
CREATE INDEX requests_by_submission ON requests (tenant_id, submitted_at);
CREATE INDEX audit_log_outcomes ON audit_log (tenant_id, at)
  WHERE action IN ('approved', 'rejected', 'succeeded', 'failed');

-- People's choices about the daily summary. For people without a row the settings decide.
CREATE TABLE digest_choices (
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  is_on boolean NOT NULL,
  chosen_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, person_id)
);
