-- The numbers of calls of all processes to each service of Microsoft 365, by minute.
CREATE TABLE service_calls (
  service text NOT NULL,
  minute timestamptz NOT NULL,
  calls integer NOT NULL,
  failed integer NOT NULL,
  throttled integer NOT NULL,
  timed_out integer NOT NULL,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  PRIMARY KEY (service, minute)
);
CREATE INDEX service_calls_by_age ON service_calls (minute);

-- The seconds from the creation of a site's group until the directory showed it.
CREATE TABLE directory_sightings (
  request_id uuid PRIMARY KEY,
  tenant_id uuid NOT NULL,
  seen_at timestamptz NOT NULL,
  seconds double precision NOT NULL
);
CREATE INDEX directory_sightings_by_age ON directory_sightings (seen_at);
