-- All versions of templates, with author and time, without the secrets of webhooks.
CREATE TABLE template_versions (
  tenant_id uuid NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  body jsonb NOT NULL,
  -- The author, or null: the templates file, or a version before this table.
  changed_by jsonb,
  changed_at timestamptz,
  PRIMARY KEY (tenant_id, template_id, version)
);

INSERT INTO template_versions (tenant_id, template_id, version, body)
SELECT tenant_id, template_id, version, body #- '{webhook,secret}' #- '{webhook,formerSecrets}'
FROM templates;
