-- Hours keep their counts by the name of the status: a status that comes to be between two others must not relabel them.
-- Only those that occurred, so an hour without messages is {}.
ALTER TABLE message_hours ALTER COLUMN counts TYPE jsonb USING jsonb_strip_nulls(jsonb_build_object(
  'queued', nullif(counts[1], 0), 'sent', nullif(counts[2], 0), 'delivered', nullif(counts[3], 0),
  'opened', nullif(counts[4], 0), 'clicked', nullif(counts[5], 0), 'bounced', nullif(counts[6], 0),
  'complained', nullif(counts[7], 0)));
