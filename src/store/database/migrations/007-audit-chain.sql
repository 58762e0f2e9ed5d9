-- Each request's entries are a chain: every one carries the hash of all before it. What is here already is chained by
-- the code that runs in this migration's transaction. Columns may be empty, so that a process of the version before goes
-- on while replicas are exchanged; what it writes then is in no chain, and is named by the proof.
ALTER TABLE audit_log
  ADD COLUMN seq integer,
  ADD COLUMN actor_id text,
  ADD COLUMN origin text,
  ADD COLUMN trace text,
  ADD COLUMN version integer,
  ADD COLUMN salt text,
  ADD COLUMN digest text,
  ADD COLUMN state_salt text,
  ADD COLUMN before text,
  ADD COLUMN after text,
  ADD COLUMN hash text,
  -- The words may be erased; their digest stays.
  ALTER COLUMN body DROP NOT NULL;

-- The newest hash of each chain, apart from the entries. The seal is made with a key that is not in the database. Nobody
-- begins a chain twice, and whoever continues one holds its row.
CREATE TABLE audit_heads (
  request_id uuid PRIMARY KEY,
  seq integer NOT NULL,
  hash text NOT NULL,
  seal text
);
