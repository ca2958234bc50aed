-- An id like those of src/ids.ts: milliseconds in 48 bits, then the microseconds, then random bits.
CREATE OR REPLACE FUNCTION uuid_at(p_at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex(trunc(extract(epoch FROM p_at) * 1000)::bigint), 12, '0')
          || lpad(to_hex(extract(microseconds FROM p_at)::bigint % 1000), 4, '0')
          || right(replace(gen_random_uuid()::text, '-', ''), 16))::uuid
$$;
