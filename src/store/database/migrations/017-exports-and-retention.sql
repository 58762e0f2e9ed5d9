-- What was written between two moments is read in the order of time; what was submitted, by the index of migration 16.
CREATE INDEX audit_log_by_time ON audit_log (tenant_id, at, entry);

-- Requests that have ended and still have their details. Moments are all written by toISOString, so as text they are in their order.
CREATE INDEX requests_to_reduce ON requests (tenant_id, (body ->> 'finishedAt') COLLATE "C")
  WHERE body ->> 'finishedAt' IS NOT NULL AND body ->> 'reducedAt' IS NULL;
