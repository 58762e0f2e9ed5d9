-- What each chat was sent lately, so that all processes together keep to the limits of Teams.
CREATE TABLE chat_pace (
  conversation_id text PRIMARY KEY,
  body jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX chat_pace_by_age ON chat_pace (updated_at);

-- A chat that has refused our messages for good: since when, and in which words of the connector. NULL = it takes them.
ALTER TABLE conversations ADD COLUMN closed_at timestamptz, ADD COLUMN closed_why text;
