-- How receivers of webhooks do: failing since when, switched off when and why. One without a row does well.
CREATE TABLE webhook_endpoints (
  endpoint_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  -- NULL: the bot's own subscription.
  template_id uuid,
  body jsonb NOT NULL
);
CREATE INDEX webhook_endpoints_by_template ON webhook_endpoints (tenant_id, template_id);

-- What the log of deliveries is searched by. Generated, so that a replica of the version before goes on writing while the
-- others are started anew. Moments are all written by toISOString, so as text they are in their order.
ALTER TABLE deliveries
  ADD COLUMN tenant_id uuid GENERATED ALWAYS AS ((body ->> 'tenantId')::uuid) STORED,
  ADD COLUMN template_id uuid GENERATED ALWAYS AS ((body -> 'subscriber' ->> 'templateId')::uuid) STORED,
  ADD COLUMN created_at text COLLATE "C" GENERATED ALWAYS AS (body ->> 'createdAt') STORED;
CREATE INDEX deliveries_by_age ON deliveries (tenant_id, created_at DESC, delivery_id DESC);
CREATE INDEX deliveries_by_status ON deliveries (tenant_id, status, created_at DESC, delivery_id DESC);
CREATE INDEX deliveries_by_template ON deliveries (tenant_id, template_id, created_at DESC, delivery_id DESC);
