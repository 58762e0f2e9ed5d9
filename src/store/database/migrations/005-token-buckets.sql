-- Limits of use, which all replicas share. Unlogged: counting a call flushes nothing to disk, and after a crash of the
-- server everybody starts with full buckets.
CREATE UNLOGGED TABLE token_buckets (
  key text PRIMARY KEY,
  tokens double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  full_at timestamptz NOT NULL
);
CREATE INDEX token_buckets_by_fullness ON token_buckets (full_at);

-- Takes one token from each bucket, or from none if a bucket is empty. Locks buckets in the order of their keys, so that two
-- calls cannot deadlock. A call that waited continues with the tokens that the other call left.
CREATE FUNCTION draw_tokens(keys text[], capacities double precision[], rates double precision[], at timestamptz)
RETURNS TABLE (place bigint, left_over double precision, drawn boolean) LANGUAGE plpgsql AS $$
DECLARE
  wanted record;
  found_tokens double precision;
  cost integer := 1;
BEGIN
  FOR wanted IN SELECT w.* FROM unnest(keys, capacities, rates) AS w (key, capacity, rate) ORDER BY w.key COLLATE "C" LOOP
    INSERT INTO token_buckets AS b (key, tokens, filled_at, full_at)
    VALUES (wanted.key, wanted.capacity, draw_tokens.at, draw_tokens.at)
    ON CONFLICT (key) DO UPDATE SET
      tokens = least(wanted.capacity,
        b.tokens + greatest(0, extract(epoch FROM draw_tokens.at - b.filled_at)) * wanted.rate),
      filled_at = greatest(b.filled_at, draw_tokens.at)
    RETURNING b.tokens INTO found_tokens;
    IF found_tokens < 1 THEN cost := 0; END IF;
  END LOOP;
  RETURN QUERY
    WITH w AS (SELECT * FROM unnest(keys, capacities, rates) WITH ORDINALITY AS u (key, capacity, rate, place)),
    changed AS (
      UPDATE token_buckets b SET
        tokens = b.tokens - cost,
        full_at = b.filled_at + (w.capacity - b.tokens + cost) / w.rate * interval '1 second'
      FROM w WHERE b.key = w.key
      RETURNING w.place, b.tokens
    )
    SELECT c.place, c.tokens, cost = 1 FROM changed c ORDER BY c.place;
END $$;
