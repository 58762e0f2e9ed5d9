-- The entries of each request form a chain: each entry has a hash over all previous entries. Code in this migration's
-- transaction chains the existing entries. Columns may be empty, so that processes of the previous version can write during
-- an update. Their entries are in no chain, and the proof reports them.
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
  -- The text may be erased; its digest stays.
  ALTER COLUMN body DROP NOT NULL;

-- The newest hash of each chain, stored apart from the entries. The key of the seal is not in the database. No chain can start
-- twice, and a transaction that continues a chain locks its row.
CREATE TABLE audit_heads (
  request_id uuid PRIMARY KEY,
  seq integer NOT NULL,
  hash text NOT NULL,
  seal text
);
