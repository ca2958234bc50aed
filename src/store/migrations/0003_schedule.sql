-- Emails that go out later, and those that were called back (src/sending/schedule.ts,
-- src/delivery/recall.ts).

ALTER TABLE messages
  ADD COLUMN scheduled_at timestamptz,    -- not to be handed over before; null: at once
  ADD COLUMN cancelled_at timestamptz;    -- called back before anything of it was handed over

-- How long a day's partitions are still needed (src/store/partitions.ts). Only on partitions made
-- from now on: in older ones nothing is scheduled, and indexing them would hold up every send.
CREATE INDEX messages_scheduled_at ON ONLY messages (scheduled_at)
  WHERE scheduled_at IS NOT NULL AND cancelled_at IS NULL;

-- Without p_scheduled_at.
DROP FUNCTION IF EXISTS accept_sends(
  uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[],
  text[], uuid[], bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[],
  integer[], integer[], boolean, integer, integer);
