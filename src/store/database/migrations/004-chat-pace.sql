-- The recent messages to each chat, so that all processes together respect the limits of Teams.
CREATE TABLE chat_pace (
  conversation_id text PRIMARY KEY,
  body jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX chat_pace_by_age ON chat_pace (updated_at);

-- A chat that permanently refuses our messages: since when, and the connector's error text. NULL: it accepts them.
ALTER TABLE conversations ADD COLUMN closed_at timestamptz, ADD COLUMN closed_why text;
