-- Finds equal bodies of one person. Without it, each new request read all bodies that the person sent on the same day.
CREATE INDEX requests_by_fingerprint ON requests (tenant_id, requester_id, (body ->> 'fingerprint'))
  WHERE body ->> 'fingerprint' IS NOT NULL;
