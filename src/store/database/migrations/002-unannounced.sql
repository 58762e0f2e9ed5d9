-- Created resources that are not announced yet. They are few at any time, and admins read them.
CREATE INDEX requests_unannounced ON requests (tenant_id, number)
  WHERE status = 'succeeded' AND body -> 'followUp' ->> 'state' <> 'announced';
