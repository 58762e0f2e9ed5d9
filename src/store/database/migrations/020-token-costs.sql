-- Takes as many tokens from each bucket as the call costs, or none if a bucket has too few. Earlier versions continue to use the
-- function that takes one token.
CREATE FUNCTION draw_tokens(
  keys text[], capacities double precision[], rates double precision[], costs double precision[], at timestamptz)
RETURNS TABLE (place bigint, left_over double precision, drawn boolean) LANGUAGE plpgsql AS $$
DECLARE
  wanted record;
  found_tokens double precision;
  is_drawn boolean := true;
BEGIN
  FOR wanted IN
    SELECT w.* FROM unnest(keys, capacities, rates, costs) AS w (key, capacity, rate, cost) ORDER BY w.key COLLATE "C"
  LOOP
    INSERT INTO token_buckets AS b (key, tokens, filled_at, full_at)
    VALUES (wanted.key, wanted.capacity, draw_tokens.at, draw_tokens.at)
    ON CONFLICT (key) DO UPDATE SET
      tokens = least(wanted.capacity,
        b.tokens + greatest(0, extract(epoch FROM draw_tokens.at - b.filled_at)) * wanted.rate),
      filled_at = greatest(b.filled_at, draw_tokens.at)
    RETURNING b.tokens INTO found_tokens;
    IF found_tokens < wanted.cost THEN is_drawn := false; END IF;
  END LOOP;
  RETURN QUERY
    WITH w AS (
      SELECT u.*, CASE WHEN is_drawn THEN u.cost ELSE 0 END AS taken
      FROM unnest(keys, capacities, rates, costs) WITH ORDINALITY AS u (key, capacity, rate, cost, place)
    ),
    changed AS (
      UPDATE token_buckets b SET
        tokens = b.tokens - w.taken,
        full_at = b.filled_at + (w.capacity - b.tokens + w.taken) / w.rate * interval '1 second'
      FROM w WHERE b.key = w.key
      RETURNING w.place, b.tokens
    )
    SELECT c.place, c.tokens, is_drawn FROM changed c ORDER BY c.place;
END $$;
