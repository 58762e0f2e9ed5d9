-- Entries of a period in the order of time. Requests of a period use the index of migration 16.
CREATE INDEX audit_log_by_time ON audit_log (tenant_id, at, entry);

-- Ended requests with details. toISOString writes all times, so their texts are in the order of time.
CREATE INDEX requests_to_reduce ON requests (tenant_id, (body ->> 'finishedAt') COLLATE "C")
  WHERE body ->> 'finishedAt' IS NOT NULL AND body ->> 'reducedAt' IS NULL;
