-- Every version that a template ever had, by whom and when. No secret of a webhook is kept here.
CREATE TABLE template_versions (
  tenant_id uuid NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  body jsonb NOT NULL,
  -- The person, or null where nobody was asked: the file of templates, or a time before this table.
  changed_by jsonb,
  changed_at timestamptz,
  PRIMARY KEY (tenant_id, template_id, version)
);

INSERT INTO template_versions (tenant_id, template_id, version, body)
SELECT tenant_id, template_id, version, body #- '{webhook,secret}' #- '{webhook,formerSecrets}'
FROM templates;
