-- Indexes for frequent queries, so that they stay fast with any number of past requests.

-- A person's requests in one state, and the number of their open requests, which each new request checks.
CREATE INDEX requests_by_requester_status ON requests (tenant_id, requester_id, status, number DESC);
-- All requests of one kind, and of one kind in one state. A person's requests of one kind are filtered from all of theirs.
CREATE INDEX requests_by_kind ON requests (tenant_id, kind, number DESC);
CREATE INDEX requests_by_kind_status ON requests (tenant_id, kind, status, number DESC);

-- Only requests with pending approvers, so ended requests are not in the index. Without fastupdate: recent rows would be in
-- a list that every search reads completely.
DROP INDEX requests_by_approver;
CREATE INDEX requests_by_approver ON requests USING gin (waiting_for) WITH (fastupdate = off)
  WHERE status = 'pendingApproval';

-- The deadlines that the watchdog has reported. It reads them every minute.
CREATE INDEX audit_log_overdue ON audit_log (request_id, at) WHERE action = 'overdue';

-- Rows that housekeeping deletes.
CREATE INDEX deliveries_ended ON deliveries (updated_at) WHERE status <> 'pending';
CREATE INDEX drafts_by_age ON drafts (updated_at);

-- Nearly all created resources are announced. Without these statistics the planner treats the two columns as independent,
-- expects nearly all rows, and ignores the index of migration 2.
CREATE STATISTICS requests_told (mcv) ON status, (body -> 'followUp' ->> 'state') FROM requests;
