/** Settings of events and webhooks: what is accepted and kept. */
import { z } from 'zod';
import { between, positive } from './values.ts';

export const events = {
  EVENT_MAX_BYTES: positive.default(524_288).describe('Maximum body size of `POST /e/:key`'),
  EVENT_MAX_FUTURE_DAYS: z.coerce
    .number()
    .min(0)
    .max(3_650)
    .default(365)
    .describe('Maximum number of days that `ts` of an event may lie in the future'),
  RETENTION_DAYS: z.coerce
    .number()
    .min(1)
    .max(3_650)
    .default(7)
    .describe(
      'Number of days to keep events and finished runs. At least 1. With `DATABASE_URL`, environments can have their own (`PATCH /v1/environments/:name/limits`)',
    ),
  MCP_PAYLOADS: z
    .stringbool()
    .default(true)
    .describe(
      'Show assistants that use [`/mcp`](mcp.md) what events, runs and webhooks contain. `false`: only what happened to them',
    ),
  RUN_LOGS: z.stringbool().default(true).describe('Keep what functions log, up to 1,000 lines and 256 KiB per run'),
  AUDIT_RETENTION_DAYS: between(1, 3_650)
    .default(365)
    .describe('Number of days to keep audit entries. Needs `DATABASE_URL`; without it, the last 10,000 are kept'),
  INGEST_CONCURRENCY: positive.default(8).describe('Maximum number of ingest jobs in progress per worker'),
};

export const webhooks = {
  WEBHOOK_LOG_SIZE: between(0, 10_000)
    .default(200)
    .describe('Number of requests to keep in the log of each webhook, for up to 7 days and 32 MiB. 0 disables the log'),
  TRANSFORM_TIMEOUT_MS: positive.default(1_000).describe('Maximum duration of a webhook transform'),
  TRANSFORM_THREADS: positive.default(2).describe('Number of threads that run transforms per web process'),
};
