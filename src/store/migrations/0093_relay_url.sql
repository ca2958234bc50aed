-- Where RELAY_URL led when email was last handed over (src/relays/stored-relays.ts): it changes by a
-- restart, and return paths that were proved before say nothing about another relay.
CREATE TABLE relay_url (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  place text                              -- host and port; NULL: RELAY_URL was unset
);
