-- A version of a template has a name and a description of its own, so that a draft renames nothing
-- that is in use. Null: saved before that; then those of the template count.
ALTER TABLE account_template_versions ADD COLUMN name text, ADD COLUMN description text;
