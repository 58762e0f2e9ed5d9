-- The latest ended requests of each kind, for the health of the service.
CREATE INDEX requests_by_end ON requests (tenant_id, kind, updated_at DESC) WHERE status IN ('succeeded', 'failed');
