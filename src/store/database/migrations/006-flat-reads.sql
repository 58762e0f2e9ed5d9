-- What is asked again and again is found by an index, however many requests there have ever been.

-- A person's requests in one state; and how many of theirs are open, which is asked before each new one.
CREATE INDEX requests_by_requester_status ON requests (tenant_id, requester_id, status, number DESC);
-- All requests of one kind, and of one kind in one state; a person's of one kind are picked out of theirs.
CREATE INDEX requests_by_kind ON requests (tenant_id, kind, number DESC);
CREATE INDEX requests_by_kind_status ON requests (tenant_id, kind, status, number DESC);

-- Only who is asked for a decision waits, so all that has ended stays out. Without fastupdate: what was written lately
-- would stand in a list that every search reads from end to end.
DROP INDEX requests_by_approver;
CREATE INDEX requests_by_approver ON requests USING gin (waiting_for) WITH (fastupdate = off)
  WHERE status = 'pendingApproval';

-- Which deadlines the watchdog has told of, as it asks every minute.
CREATE INDEX audit_log_overdue ON audit_log (request_id, at) WHERE action = 'overdue';

-- What housekeeping looks for.
CREATE INDEX deliveries_ended ON deliveries (updated_at) WHERE status <> 'pending';
CREATE INDEX drafts_by_age ON drafts (updated_at);

-- Nearly all that was made was announced. Without this the planner takes each of the two for a matter of its own, expects
-- nearly everything, and leaves the index of migration 2 aside.
CREATE STATISTICS requests_told (mcv) ON status, (body -> 'followUp' ->> 'state') FROM requests;
