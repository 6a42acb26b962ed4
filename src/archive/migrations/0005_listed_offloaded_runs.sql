-- Up Migration

-- Offloaded runs are listed from here: Redis has no list of them.
ALTER TABLE offloaded_runs ADD COLUMN function_id text, ADD COLUMN queued_at bigint;
UPDATE offloaded_runs SET function_id = record::json->>'f', queued_at = (record::json->>'q')::bigint;
ALTER TABLE offloaded_runs ALTER COLUMN function_id SET NOT NULL, ALTER COLUMN queued_at SET NOT NULL;
CREATE INDEX ON offloaded_runs (env_id, queued_at, id) WHERE returned_at IS NULL;
CREATE INDEX ON offloaded_runs (env_id, function_id, queued_at, id) WHERE returned_at IS NULL;

-- Down Migration

ALTER TABLE offloaded_runs DROP COLUMN function_id, DROP COLUMN queued_at;
