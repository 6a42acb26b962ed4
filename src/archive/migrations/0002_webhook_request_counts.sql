-- Up Migration

-- Number of requests of a webhook by day and outcome, for its statistics and to find the days of a page.
CREATE TABLE webhook_request_counts (
  retention smallint NOT NULL,
  -- Start of the day.
  at bigint NOT NULL,
  webhook_id text NOT NULL,
  outcome text NOT NULL,
  count bigint NOT NULL,
  -- Receipt of the last request.
  last_at bigint NOT NULL
) PARTITION BY LIST (retention);
CREATE INDEX ON webhook_request_counts (webhook_id, at);

-- Webhooks that were deleted: their requests are not shown any more, and leave with their days.
CREATE TABLE removed_webhooks (
  webhook_id text PRIMARY KEY,
  removed_at bigint NOT NULL
);

-- Down Migration

DROP TABLE removed_webhooks, webhook_request_counts;
