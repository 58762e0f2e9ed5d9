-- Aggregates are stored whole, as versioned JSON that is parsed when it is read. Other columns exist for searches and constraints.

CREATE TABLE counters (
  tenant_id uuid PRIMARY KEY,
  last_number integer NOT NULL
);

CREATE TABLE requests (
  request_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  number integer NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  requester_id uuid NOT NULL,
  -- The people who may decide now: the approvers of the open stage who have not decided.
  waiting_for uuid[] NOT NULL DEFAULT '{}',
  version integer NOT NULL,
  submitted_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  body jsonb NOT NULL,
  UNIQUE (tenant_id, number)
);
CREATE INDEX requests_by_requester ON requests (tenant_id, requester_id, number DESC);
CREATE INDEX requests_by_approver ON requests USING gin (waiting_for);
CREATE INDEX requests_by_status ON requests (tenant_id, status, number DESC);

CREATE TABLE templates (
  tenant_id uuid NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  body jsonb NOT NULL,
  PRIMARY KEY (tenant_id, template_id)
);

CREATE TABLE audit_log (
  entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id uuid NOT NULL,
  request_id uuid NOT NULL,
  at timestamptz NOT NULL,
  action text NOT NULL,
  body jsonb NOT NULL
);
CREATE INDEX audit_log_by_request ON audit_log (request_id, entry);

-- Each name has one holder, also with concurrent transactions.
CREATE TABLE reservations (
  tenant_id uuid NOT NULL,
  name text NOT NULL,
  request_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, name)
);
CREATE INDEX reservations_by_request ON reservations (request_id);

CREATE TABLE drafts (
  request_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  version integer NOT NULL,
  updated_at timestamptz NOT NULL,
  body jsonb NOT NULL
);

CREATE TABLE deliveries (
  delivery_id uuid PRIMARY KEY,
  request_id uuid NOT NULL,
  status text NOT NULL,
  updated_at timestamptz NOT NULL,
  body jsonb NOT NULL
);
CREATE INDEX deliveries_by_request ON deliveries (request_id);

-- Sent cards in chats. The primary key ensures that each card is sent once.
CREATE TABLE sent_cards (
  request_id uuid NOT NULL,
  person_id uuid NOT NULL,
  key text NOT NULL,
  conversation_id text NOT NULL,
  activity_id text,
  state text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (request_id, person_id, key)
);

CREATE TABLE conversations (
  tenant_id uuid NOT NULL,
  person_id uuid NOT NULL,
  conversation_id text NOT NULL,
  reference jsonb NOT NULL,
  locale text NOT NULL,
  time_zone text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, person_id)
);

-- botbuilder's own state. It contains nothing important, because the SDK saves it without concurrency control.
CREATE TABLE bot_state (
  key text PRIMARY KEY,
  body jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Received activities: Teams delivers some twice.
CREATE TABLE inbox (
  channel text NOT NULL,
  conversation_id text NOT NULL,
  activity_id text NOT NULL,
  answer jsonb,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (channel, conversation_id, activity_id)
);
CREATE INDEX inbox_by_age ON inbox (received_at);

-- The first claim of a key fixes the request's id, so a repeated call continues the same request.
CREATE TABLE idempotency_keys (
  tenant_id text NOT NULL,
  person_id text NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  fingerprint text,
  request_id uuid NOT NULL,
  holder text,
  lease_until timestamptz,
  keep_until timestamptz NOT NULL,
  answer jsonb,
  PRIMARY KEY (tenant_id, person_id, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (keep_until);

-- Values that the service creates once, such as a signing secret.
CREATE TABLE settings (
  name text PRIMARY KEY,
  value text NOT NULL
);
