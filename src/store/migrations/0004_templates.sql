-- Templates of an account's own, with every version ever saved, and its branding. Written by src/templates.

CREATE TABLE account_templates (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(slug) <= 64),
  name text NOT NULL,
  category text NOT NULL,
  description text NOT NULL,
  published_version integer,    -- what sends use; null: never published
  archived_at timestamptz,      -- out of use: sends find the system template of the slug again, or none
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, slug)
);

-- Never updated but for published_at, so what was compiled from a version stays true.
CREATE TABLE account_template_versions (
  account_id bigint NOT NULL,
  slug text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  cloned_from text,             -- the system template it is a copy of
  based_on integer,             -- the version it was edited from; both null: made from nothing
  subject text NOT NULL,
  preheader text NOT NULL,
  html text NOT NULL,
  text text,                    -- null: derived from the HTML
  variables json NOT NULL,      -- json, not jsonb: people wrote the keys in an order they like
  sample json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz,     -- when first; null: a draft that was never used
  PRIMARY KEY (account_id, slug, version),
  FOREIGN KEY (account_id, slug) REFERENCES account_templates ON DELETE CASCADE,
  CHECK (num_nonnulls(cloned_from, based_on) <= 1)
);

ALTER TABLE account_templates ADD FOREIGN KEY (account_id, slug, published_version)
  REFERENCES account_template_versions (account_id, slug, version);

-- Every version is kept, so that the one a message records can still be looked up. The newest is in force.
CREATE TABLE branding (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  version integer NOT NULL CHECK (version >= 1),
  fields jsonb NOT NULL,        -- all that were in force, defaults included (src/templates/branding.ts)
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, version)
);

CREATE TRIGGER template_changed AFTER INSERT OR UPDATE OR DELETE ON account_templates
  FOR EACH ROW EXECUTE FUNCTION raise_account_version();
CREATE TRIGGER branding_changed AFTER INSERT OR UPDATE OR DELETE ON branding
  FOR EACH ROW EXECUTE FUNCTION raise_account_version();
