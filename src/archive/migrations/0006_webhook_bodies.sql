-- Up Migration

-- Bodies of webhook requests that are larger than Redis is to hold. Rows of webhook_requests have no body then.
CREATE TABLE webhook_bodies (
  retention smallint NOT NULL,
  -- Receipt of the request.
  at bigint NOT NULL,
  id uuid NOT NULL,
  webhook_id text NOT NULL,
  body bytea COMPRESSION lz4 NOT NULL
) PARTITION BY LIST (retention);

-- Down Migration

DROP TABLE webhook_bodies;
