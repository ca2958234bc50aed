-- Batches (src/sending/accept-batch.ts).

-- Without p_whole.
DROP FUNCTION IF EXISTS accept_sends(
  uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[],
  text[], uuid[], bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[],
  integer[], integer[], timestamptz[], boolean, integer, integer);
