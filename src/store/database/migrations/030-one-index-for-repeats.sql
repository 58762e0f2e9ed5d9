-- The search for equal bodies uses only this index, so that a table without statistics has no other plan.
DROP INDEX requests_by_fingerprint;
CREATE INDEX requests_by_fingerprint ON requests ((body ->> 'fingerprint'))
  WHERE body ->> 'fingerprint' IS NOT NULL;
