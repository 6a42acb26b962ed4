-- Up Migration

-- Active runs that sleep or wait for longer than HOT_HOURS. Redis has the alarm of each, which decides whether its row is in force: rows of runs
-- that have returned are removed later. No day tables: an active run has no retention.
CREATE TABLE offloaded_runs (
  env_id integer NOT NULL,
  id uuid NOT NULL,
  -- All events of a batch.
  event_ids uuid[] NOT NULL,
  -- When the run returns to Redis.
  due_at bigint NOT NULL,
  -- When its contents were read, in microseconds by the clock of Redis: a later version replaces an earlier one, and never the reverse.
  read_at bigint NOT NULL,
  returned_at bigint,
  -- Fields of the run in Redis that lists show, as a JSON object.
  record text COMPRESSION lz4 NOT NULL,
  -- Its unfinished steps, as JSON.
  steps text COMPRESSION lz4 NOT NULL,
  -- Texts of the events by ID, as a JSON object (model/events/event-encoding.ts): the run may sleep for longer than the archive keeps them.
  events text COMPRESSION lz4 NOT NULL,
  -- All of the run in Redis (store/runs/lua/lib/run-contents.lua).
  contents bytea COMPRESSION lz4 NOT NULL,
  PRIMARY KEY (env_id, id)
);
CREATE INDEX ON offloaded_runs USING gin (event_ids);
CREATE INDEX ON offloaded_runs (due_at);
CREATE INDEX ON offloaded_runs (returned_at) WHERE returned_at IS NOT NULL;

-- Down Migration

DROP TABLE offloaded_runs;
