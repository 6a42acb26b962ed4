-- Up Migration

-- Texts that many rows share, by number. An environment that was deleted keeps its number and loses its name, so that a later one of the same
-- name does not see its data.
CREATE TABLE environments (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  deleted_at bigint
);
CREATE UNIQUE INDEX ON environments (name) WHERE deleted_at IS NULL;

CREATE TABLE event_names (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  env_id integer NOT NULL,
  name text NOT NULL,
  UNIQUE (env_id, name)
);

-- Event keys, webhooks, and the constant sources. Other sources are stored with their events.
CREATE TABLE event_sources (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  env_id integer NOT NULL,
  source text NOT NULL,
  UNIQUE (env_id, source)
);

CREATE TABLE functions (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  env_id integer NOT NULL,
  function_id text NOT NULL,
  UNIQUE (env_id, function_id)
);

-- What is archived of each environment and day: also says in which partitions (retention) the rows of that day are.
-- env_id 0 is the installation. day is its start. All times of the archive are Unix milliseconds.
CREATE TABLE archived_days (
  env_id integer NOT NULL,
  kind text NOT NULL,
  day bigint NOT NULL,
  retention smallint NOT NULL,
  rows bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (env_id, kind, day)
);

-- The tables below are partitioned twice: by retention in days, then by day of "at" (archived-days.ts). IDs are the 128 bits of ULIDs.

CREATE TABLE events (
  retention smallint NOT NULL,
  -- Receipt.
  at bigint NOT NULL,
  id uuid NOT NULL,
  env_id integer NOT NULL,
  name_id integer NOT NULL,
  source_id integer,
  source text,
  request_id text NOT NULL,
  index integer NOT NULL,
  -- The ID that the sender gave.
  dedup_id text,
  duplicates integer NOT NULL DEFAULT 0,
  -- Whether Postgres can read the payload as jsonb: it has no \u0000, no lone surrogates, no huge numbers.
  is_jsonb boolean NOT NULL,
  -- As in Redis (store/flow-control/decisions.ts).
  decisions bytea,
  -- As it was accepted.
  payload text COMPRESSION lz4 NOT NULL
) PARTITION BY LIST (retention);
CREATE INDEX ON events (env_id, at, id);
CREATE INDEX ON events (name_id, at, id);
CREATE INDEX ON events (dedup_id, env_id) WHERE dedup_id IS NOT NULL;

CREATE TABLE runs (
  retention smallint NOT NULL,
  -- Creation.
  at bigint NOT NULL,
  id uuid NOT NULL,
  env_id integer NOT NULL,
  function_id integer NOT NULL,
  event_id uuid NOT NULL,
  -- Of the run of a batch: IDs of all its events.
  batch uuid[],
  -- 1 completed, 2 failed, 3 cancelled.
  status smallint NOT NULL,
  ended_at bigint NOT NULL,
  -- Name and message of the error, shortened.
  error text,
  -- Fields of the run in Redis apart from the output, as a JSON object (store/runs/run-fields.ts).
  record text COMPRESSION lz4 NOT NULL,
  -- JSON.
  output text COMPRESSION lz4,
  -- Memos by hashed step ID, as a JSON object of JSON texts; and the order in which the steps finished, as a JSON array.
  memos text COMPRESSION lz4,
  stack text COMPRESSION lz4,
  -- Entries as a JSON array of JSON texts.
  history text COMPRESSION lz4,
  -- Fields of the metadata in Redis, as a JSON object.
  metadata text COMPRESSION lz4
) PARTITION BY LIST (retention);
CREATE INDEX ON runs (env_id, at, id);
CREATE INDEX ON runs (function_id, at, id);
CREATE INDEX ON runs (env_id, status, at, id) WHERE status <> 1;
CREATE INDEX ON runs (event_id);
CREATE INDEX ON runs USING gin (batch) WHERE batch IS NOT NULL;

-- Number of events of a minute by name.
CREATE TABLE event_counts (
  retention smallint NOT NULL,
  -- Start of the minute.
  at bigint NOT NULL,
  env_id integer NOT NULL,
  name_id integer NOT NULL,
  count integer NOT NULL
) PARTITION BY LIST (retention);
CREATE INDEX ON event_counts (env_id, at);

-- The same of a day.
CREATE TABLE event_name_days (
  retention smallint NOT NULL,
  -- Start of the day.
  at bigint NOT NULL,
  env_id integer NOT NULL,
  name_id integer NOT NULL,
  count bigint NOT NULL,
  -- Receipt of the last event.
  last_at bigint NOT NULL
) PARTITION BY LIST (retention);
CREATE INDEX ON event_name_days (env_id, name_id, at);

-- Requests of webhooks. They belong to the installation, as webhooks do.
CREATE TABLE webhook_requests (
  retention smallint NOT NULL,
  -- Receipt.
  at bigint NOT NULL,
  id uuid NOT NULL,
  webhook_id text NOT NULL,
  outcome text NOT NULL,
  status smallint NOT NULL,
  event_name text,
  -- As in Redis (store/webhooks/webhook-log.ts): summary and request as JSON, the body byte for byte.
  summary text COMPRESSION lz4 NOT NULL,
  request text COMPRESSION lz4 NOT NULL,
  body bytea COMPRESSION lz4
) PARTITION BY LIST (retention);
CREATE INDEX ON webhook_requests (webhook_id, id);
CREATE INDEX ON webhook_requests (webhook_id, id) WHERE outcome = 'rejected';

CREATE TABLE audit_entries (
  retention smallint NOT NULL,
  at bigint NOT NULL,
  -- The ID of the stream entry is "<at>-<sequence>".
  sequence bigint NOT NULL,
  -- JSON.
  entry text COMPRESSION lz4 NOT NULL
) PARTITION BY LIST (retention);
CREATE INDEX ON audit_entries (at, sequence);

-- Down Migration

DROP TABLE audit_entries, webhook_requests, event_name_days, event_counts, runs, events, archived_days, functions, event_sources, event_names, environments;
