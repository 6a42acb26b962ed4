-- Up Migration

-- Views for people and reports (docs/sql.md). Their names, columns and meanings stay: a change that would break a query makes a v2 beside them.
-- Times are timestamptz; "…_ms" are the Unix milliseconds by which the tables are partitioned: a condition on them reads only the days it needs.

-- A ULID from its 128 bits.
CREATE FUNCTION ulid_text(id uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(bits from n * 5 + 1 for 5)::int + 1, 1), '' ORDER BY n)
  FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) AS all_bits, generate_series(0, 25) AS n
$$;

-- null for texts that Postgres cannot read as jsonb, such as those with \u0000.
CREATE FUNCTION jsonb_or_null(json text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN json::jsonb;
EXCEPTION WHEN others THEN
  RETURN NULL;
END $$;

CREATE FUNCTION time_of_ms(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$ SELECT to_timestamp(ms / 1000.0) $$;

CREATE VIEW v1_events AS
SELECT env.name AS environment, ulid_text(e.id) AS id, n.name, time_of_ms(e.at) AS received_at, e.at AS received_ms,
  coalesce(e.source, s.source) AS source, e.dedup_id AS deduplication_id, e.duplicates, e.request_id,
  CASE WHEN e.is_jsonb THEN e.payload::jsonb -> 'data' END AS data,
  CASE WHEN e.is_jsonb THEN e.payload::jsonb -> 'user' END AS "user",
  time_of_ms(CASE WHEN e.is_jsonb THEN (e.payload::jsonb ->> 'ts')::numeric::bigint END) AS ts
FROM events e
JOIN environments env ON env.id = e.env_id AND env.deleted_at IS NULL
JOIN event_names n ON n.id = e.name_id
LEFT JOIN event_sources s ON s.id = e.source_id;

CREATE VIEW v1_runs AS
SELECT env.name AS environment, ulid_text(r.id) AS id, f.function_id, ulid_text(r.event_id) AS event_id,
  (SELECT array_agg(ulid_text(one) ORDER BY place) FROM unnest(r.batch) WITH ORDINALITY AS batch (one, place)) AS event_ids,
  CASE r.status WHEN 1 THEN 'Completed' WHEN 2 THEN 'Failed' ELSE 'Cancelled' END AS status,
  time_of_ms(r.at) AS queued_at, r.at AS queued_ms,
  time_of_ms((jsonb_or_null(r.record) ->> 'b')::bigint) AS started_at, time_of_ms(r.ended_at) AS ended_at,
  r.error, jsonb_or_null(r.output) AS output
FROM runs r
JOIN environments env ON env.id = r.env_id AND env.deleted_at IS NULL
JOIN functions f ON f.id = r.function_id;

-- One row for each attempt of a call, and for each step. Entries of the history are lists; the first versions wrote objects.
CREATE VIEW v1_steps AS
SELECT env.name AS environment, ulid_text(r.id) AS run_id, f.function_id, r.at AS run_queued_ms, entries.place::int AS number,
  CASE WHEN is_list THEN CASE (entry ->> 0)::int / 3 WHEN 0 THEN 'attempt' ELSE 'step' END ELSE coalesce(entry ->> 'kind', 'step') END AS kind,
  CASE WHEN is_list THEN entry ->> 6 ELSE coalesce(entry ->> 'name', entry -> 'pending' ->> 'name') END AS name,
  CASE WHEN is_list THEN entry ->> 7 ELSE coalesce(entry ->> 'op', entry -> 'pending' ->> 'op') END AS op,
  CASE WHEN is_list THEN (entry ->> 4)::int ELSE (entry ->> 'attempt')::int END AS attempt,
  CASE WHEN is_list THEN (ARRAY['Completed', 'Failed', 'Cancelled'])[(entry ->> 0)::int % 3 + 1]
       ELSE coalesce(entry ->> 'status', 'Cancelled') END AS status,
  time_of_ms(CASE WHEN is_list THEN (entry ->> 1)::bigint
                  ELSE coalesce((entry ->> 'startedAt')::bigint, (entry -> 'pending' ->> 'since')::bigint) END) AS started_at,
  time_of_ms(CASE WHEN is_list THEN (entry ->> 1)::bigint + (entry ->> 2)::bigint ELSE (entry ->> 'endedAt')::bigint END) AS ended_at,
  CASE WHEN is_list THEN entry -> 8 -> 'error' ->> 'message' ELSE entry -> 'error' ->> 'message' END AS error
FROM runs r
JOIN environments env ON env.id = r.env_id AND env.deleted_at IS NULL
JOIN functions f ON f.id = r.function_id
CROSS JOIN LATERAL jsonb_array_elements_text(jsonb_or_null(r.history)) WITH ORDINALITY AS entries (text, place)
CROSS JOIN LATERAL (SELECT jsonb_or_null(entries.text) AS entry) AS parsed
CROSS JOIN LATERAL (SELECT jsonb_typeof(entry) = 'array' AS is_list) AS shape;

CREATE VIEW v1_webhook_requests AS
SELECT q.webhook_id, ulid_text(q.id) AS id, time_of_ms(q.at) AS received_at, q.at AS received_ms, q.outcome, q.status, q.event_name,
  fields ->> 'method' AS method, fields ->> 'ip' AS ip, fields ->> 'reason' AS reason, fields ->> 'message' AS message,
  (fields ->> 'durationMs')::numeric AS duration_ms, (fields ->> 'bodyBytes')::bigint AS body_bytes,
  fields -> 'verification' ->> 'result' AS verification, coalesce((fields ->> 'recovered')::boolean, false) AS recovered
FROM webhook_requests q
CROSS JOIN LATERAL (SELECT jsonb_or_null(q.summary) AS fields) AS parsed
WHERE NOT EXISTS (SELECT FROM removed_webhooks removed WHERE removed.webhook_id = q.webhook_id);

-- Down Migration

DROP VIEW v1_webhook_requests, v1_steps, v1_runs, v1_events;
DROP FUNCTION time_of_ms(bigint);
DROP FUNCTION jsonb_or_null(text);
DROP FUNCTION ulid_text(uuid);
