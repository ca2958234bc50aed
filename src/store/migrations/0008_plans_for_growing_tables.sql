-- The plans of these two functions are made once per connection, often while a table or the day's partition is still empty,
-- and statistics come a minute later at best. A plan that reads a small table from end to end must not be kept for one that
-- grows by thousands of rows a second: measured, sends with idempotency keys fell to a fifth of their rate within seconds.
ALTER FUNCTION accept_sends SET enable_seqscan = off;
ALTER FUNCTION record_events SET enable_seqscan = off;
