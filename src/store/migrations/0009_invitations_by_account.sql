-- Every key of account data begins with the account: the link of an invitation names it.
ALTER TABLE invitations DROP CONSTRAINT invitations_token_hash_key;
