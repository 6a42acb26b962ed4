/** Settings of the processes of the service. */
import { z } from 'zod';
import { between, list, port } from './values.ts';

/** The maximum is Heroku's value for its largest dynos. */
const processCount = between(1, 200).default(1);

export const service = {
  MODE: z
    .enum(['production', 'dev'])
    .default('production')
    .describe('`production` or `dev`. Dev mode requires no credentials and listens on loopback only'),
  HOST: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Address to listen on. Default: 0.0.0.0; in dev mode 127.0.0.1. Use 127.0.0.1 if the proxy is on the same machine',
    ),
  PORT: port.default(8288).describe('Port to listen on'),
  WEB_CONCURRENCY: processCount.describe(
    'Number of processes of `scripts/start web`, which share `PORT`; 350 MB each. Heroku sets it',
  ),
  WORKER_CONCURRENCY: processCount.describe(
    'Number of processes of `scripts/start worker`; 200 MB each. `INGEST_CONCURRENCY` and `RUN_CONCURRENCY` apply to each',
  ),
  PUBLIC_URL: z.url().optional().describe('Public address of the service, such as `https://events.example.com`'),
  TRUST_PROXY: between(0, 20)
    .default(0)
    .describe('Number of reverse proxies whose `X-Forwarded-*` headers to trust. 1 on Heroku'),
  DEV_ALLOWED_ORIGINS: list
    .pipe(z.array(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)))
    .default([])
    .describe(
      'Comma-separated origins that dev mode accepts besides this machine, such as `http://host.docker.internal:8288` for containers on Linux',
    ),
  DISCOVERY: z.stringbool().default(true).describe('In dev mode, find and register apps on this machine'),
  DISCOVERY_PORTS: list
    .pipe(
      z.array(
        z
          .string()
          .regex(/^\d{1,5}$/)
          .transform(Number)
          .pipe(z.int().min(1).max(65_535)),
      ),
    )
    .optional()
    .describe('Comma-separated ports where `DISCOVERY` looks for apps. Default: those of common frameworks'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('Minimum severity to log: fatal, error, warn, info, debug or silent'),
};

export const shutdown = {
  SHUTDOWN_DRAIN_SECONDS: z.coerce
    .number()
    .nonnegative()
    .max(600)
    .default(2)
    .describe('After SIGTERM, web accepts requests for this long while `/readyz` returns 503'),
  SHUTDOWN_GRACE_SECONDS: z.coerce
    .number()
    .positive()
    .max(7_200)
    .default(20)
    .describe(
      'After SIGTERM, requests and calls in progress may take this long; other workers then take over the calls',
    ),
};
