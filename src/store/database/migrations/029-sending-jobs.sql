-- The job that sends a card, while the card is `sending`: after a crash only this job sends it again. NULL: an earlier
-- version wrote the record.
ALTER TABLE sent_cards ADD COLUMN job_id uuid;
ALTER TABLE notices ADD COLUMN job_id uuid;
