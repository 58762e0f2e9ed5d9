-- The started drafts of a person, which the bot offers again. Sent and discarded drafts are not in the index.
CREATE INDEX drafts_begun ON drafts (tenant_id, person_id, updated_at DESC)
  WHERE body ->> 'begun' = 'true' AND body ->> 'step' IN ('details', 'review');

-- In earlier versions a draft had a version above 1 only when somebody had filled it in.
UPDATE drafts SET body = body || '{"begun": true}' WHERE version > 1 AND body ->> 'step' IN ('details', 'review');
