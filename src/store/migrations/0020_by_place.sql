-- Functions that work for the accounts of one place: they have other arguments now (../functions).
DROP FUNCTION IF EXISTS accept_sends(
  uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[],
  text[], text[], uuid[], bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[],
  integer[], integer[], timestamptz[], boolean, integer, integer, boolean);
DROP FUNCTION IF EXISTS accept_sends(
  uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[],
  text[], text[], uuid[], bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[],
  integer[], integer[], timestamptz[], text[], boolean, integer, integer, boolean);
DROP FUNCTION IF EXISTS claim_due(uuid, bigint, integer, integer, bigint[]);
DROP FUNCTION IF EXISTS tend_queue(uuid, integer, boolean);
DROP FUNCTION IF EXISTS record_events(
  bigint[], uuid[], uuid[], text[], text[], text[], text[], text[], text[]);
