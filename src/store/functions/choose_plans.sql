-- Called first by the functions that record and keep their plans: lets them plan for the values
-- instead where a kept plan would not do. On Citus (p_home is given), which needs the values. And
-- with many days: a kept plan locks the tables of every day, about ten locks for each, in every
-- transaction. The server has room for max_locks_per_transaction locks per connection; without room
-- nobody can do anything there ("out of shared memory"). Measured with 64, the default: with 40
-- days all connections can record at once, with 400 only eleven could.
CREATE OR REPLACE FUNCTION choose_plans(p_home bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_home IS NOT NULL OR (SELECT count(*) FROM pg_inherits WHERE inhparent = 'messages'::regclass)
      > 0.625 * current_setting('max_locks_per_transaction')::integer THEN
    PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
  END IF;
END $$;
