-- One schema for plain PostgreSQL and for Citus, which distributes the tables by account
-- (docs/scale.md). It takes neither triggers nor a foreign key from a table of one server to a
-- distributed one. The statements that change an account raise its version themselves
-- (src/accounts/version.ts), and people, their sessions and invitations stay on one server.

DROP TRIGGER account_changed ON accounts;
DROP TRIGGER account_tracking_changed ON accounts;
DROP TRIGGER account_suspended ON accounts;
DROP TRIGGER key_changed ON api_keys;
DROP TRIGGER identity_changed ON identities;
DROP TRIGGER domain_changed ON domains;
DROP TRIGGER domain_added ON domains;
DROP TRIGGER template_changed ON account_templates;
DROP TRIGGER branding_changed ON branding;
DROP FUNCTION raise_account_version();
DROP FUNCTION raise_own_version();

ALTER TABLE members DROP CONSTRAINT members_account_id_fkey;
ALTER TABLE invitations DROP CONSTRAINT invitations_account_id_fkey;
ALTER TABLE sessions DROP CONSTRAINT sessions_account_id_fkey;
