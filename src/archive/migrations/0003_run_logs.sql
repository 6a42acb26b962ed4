-- Up Migration

-- Lines as a JSON array of JSON texts, and the number of those that were left out, in a JSON object.
ALTER TABLE runs ADD COLUMN logs text COMPRESSION lz4;

-- A day table that is detached, because its removal has begun, may be attached again.
DO $$
DECLARE day_table regclass;
BEGIN
  FOR day_table IN
    SELECT oid FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND NOT relispartition AND relname ~ '^runs_r[0-9]+_[0-9]{8}$'
  LOOP
    EXECUTE format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS logs text COMPRESSION lz4', day_table);
  END LOOP;
END $$;

-- Down Migration

ALTER TABLE runs DROP COLUMN logs;
