-- Batches are told column by column, by name: parameters are called like what they hold, which CREATE OR REPLACE cannot change.
DROP FUNCTION IF EXISTS accept_sends(
  uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[], text[], uuid[],
  bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[], integer[], integer[], boolean, integer, integer);
DROP FUNCTION IF EXISTS record_events(
  bigint[], uuid[], uuid[], text[], text[], text[], text[], text[], text[]);
