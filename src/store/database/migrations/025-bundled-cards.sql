-- Cards that one other card replaces, because the limits of a chat would delay them: the card with all of them.
ALTER TABLE sent_cards ADD COLUMN bundle_id uuid;
CREATE INDEX sent_cards_by_bundle ON sent_cards (bundle_id) WHERE bundle_id IS NOT NULL;

-- The form of its request that a card shows, so that the same form is not sent again. NULL: unknown.
ALTER TABLE sent_cards ADD COLUMN shown text;
