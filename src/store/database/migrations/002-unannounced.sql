-- What was made and nobody was told of yet: few at any time, and admins look at them.
CREATE INDEX requests_unannounced ON requests (tenant_id, number)
  WHERE status = 'succeeded' AND body -> 'followUp' ->> 'state' <> 'announced';
