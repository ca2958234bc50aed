-- Roughly how many messages a day has, and how many of them slices of its search index cover
-- (messages/search-index.ts), by the statistics of the servers that have them: on Citus the table
-- here is empty, and each shard is asked.
CREATE OR REPLACE FUNCTION day_size(p_day regclass, OUT messages float8, OUT indexed float8) LANGUAGE plpgsql AS $$
DECLARE
  question CONSTANT text := $of$
    SELECT pg_stat_get_live_tuples('%1$s'::regclass) || ' ' || coalesce(sum(greatest(c.reltuples, 0)), 0)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = '%1$s'::regclass AND i.indisvalid AND i.indexprs IS NOT NULL AND i.indpred IS NOT NULL $of$;
  answer text;
  answers text[];
BEGIN
  IF p_day = ANY (ARRAY (SELECT tables_here(p_day))) THEN
    EXECUTE format(question, p_day) INTO answer;
    answers := ARRAY[answer];
  ELSE
    answers := ARRAY (SELECT result FROM run_command_on_shards(p_day, question) WHERE success);
  END IF;
  SELECT sum(split_part(a, ' ', 1)::float8), sum(split_part(a, ' ', 2)::float8) INTO messages, indexed FROM unnest(answers) a;
END $$;
