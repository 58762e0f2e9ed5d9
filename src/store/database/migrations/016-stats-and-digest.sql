-- What happened in a period is found by when it happened, however much happened before it.
CREATE INDEX requests_by_submission ON requests (tenant_id, submitted_at);
CREATE INDEX audit_log_outcomes ON audit_log (tenant_id, at)
  WHERE action IN ('approved', 'rejected', 'succeeded', 'failed');

-- Who has chosen whether to have a summary each day; whoever has not has it as the settings say.
CREATE TABLE digest_choices (
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  is_on boolean NOT NULL,
  chosen_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, person_id)
);
