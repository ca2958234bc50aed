-- Languages: the texts of a template by language, and what an account's emails are written in where
-- a send does not say.
ALTER TABLE account_template_versions
  ADD COLUMN messages json NOT NULL DEFAULT '{}';

ALTER TABLE accounts
  ADD COLUMN locale text CHECK (length(locale) BETWEEN 2 AND 35);
