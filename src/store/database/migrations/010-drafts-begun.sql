-- What a person has begun is offered to them again, so it is found by whose it is, among all that was sent or thrown away.
CREATE INDEX drafts_begun ON drafts (tenant_id, person_id, updated_at DESC)
  WHERE body ->> 'begun' = 'true' AND body ->> 'step' IN ('details', 'review');

-- Until now a draft was written again only when somebody had filled it in.
UPDATE drafts SET body = body || '{"begun": true}' WHERE version > 1 AND body ->> 'step' IN ('details', 'review');
