-- The status of webhook receivers: since when a receiver fails, when and why it was disabled. A receiver without a row is healthy.
CREATE TABLE webhook_endpoints (
  endpoint_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  -- NULL: the service's own receiver.
  template_id uuid,
  body jsonb NOT NULL
);
CREATE INDEX webhook_endpoints_by_template ON webhook_endpoints (tenant_id, template_id);

-- Columns for searches of the delivery log. They are generated, so that a replica of the previous version can write during an
-- update. toISOString writes all times, so their texts are in the order of time.
ALTER TABLE deliveries
  ADD COLUMN tenant_id uuid GENERATED ALWAYS AS ((body ->> 'tenantId')::uuid) STORED,
  ADD COLUMN template_id uuid GENERATED ALWAYS AS ((body -> 'subscriber' ->> 'templateId')::uuid) STORED,
  ADD COLUMN created_at text COLLATE "C" GENERATED ALWAYS AS (body ->> 'createdAt') STORED;
CREATE INDEX deliveries_by_age ON deliveries (tenant_id, created_at DESC, delivery_id DESC);
CREATE INDEX deliveries_by_status ON deliveries (tenant_id, status, created_at DESC, delivery_id DESC);
CREATE INDEX deliveries_by_template ON deliveries (tenant_id, template_id, created_at DESC, delivery_id DESC);
