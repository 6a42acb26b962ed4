/** Settings of calls to functions: at URLs, over connections of apps, and to which addresses. */
import { z } from 'zod';
import { between, cidrs, percent, positive } from './values.ts';

export const calls = {
  RUN_CONCURRENCY: positive.default(100).describe('Maximum number of function calls in progress per worker'),
  APP_CONCURRENCY_PERCENT: percent
    .default(90)
    .describe('Maximum percentage of the free concurrency that an environment, or an app in it, may use'),
  BRANCH_CONCURRENCY_PERCENT: percent
    .default(50)
    .describe('Maximum percentage of `RUN_CONCURRENCY` for all branch environments together'),
  CALL_TIMEOUT_SECONDS: z.coerce.number().positive().default(7_200).describe('Maximum duration of a function call'),
  CALL_RESPONSE_MAX_BYTES: between(65_536, 67_108_864)
    .default(8_454_144)
    .describe('Maximum size of the response to a function call. Default: two of the largest step outputs'),
  RETRY_SCALE: z.coerce.number().min(0).default(1).describe('Factor for all scheduled retry delays'),
  STALLED_AFTER_SECONDS: z.coerce
    .number()
    .positive()
    .default(30)
    .describe('Another worker takes over a job when its worker has not responded for this long (± 10 %)'),
};

export const connect = {
  CONNECT_GATEWAY_URL: z
    .url({ protocol: /^wss?$/ })
    .optional()
    .describe(
      'Address for WebSockets of apps. Default: `/v0/connect` at `PUBLIC_URL`, or at the host that the app has called',
    ),
  CONNECT_LEASE_SECONDS: between(4, 600)
    .default(20)
    .describe('A call over a connection fails when its instance does not extend the lease for this long'),
  CONNECTIONS_MAX: positive.max(5_000).default(500).describe('Maximum number of connections of apps per environment'),
  CONNECTION_CALLS_MAX: positive
    .default(1_000)
    .describe(
      'Maximum number of calls in progress per connection. An instance may ask for fewer (`maxWorkerConcurrency`)',
    ),
};

export const outbound = {
  BLOCK_PRIVATE_ADDRESSES: z
    .stringbool()
    .default(false)
    .describe('Block calls to apps at private, loopback, link-local and metadata addresses'),
  OUTBOUND_DENY_CIDRS: cidrs
    .default([])
    .describe(
      'Comma-separated CIDR ranges where apps may not be called. `private` means every address that is not public',
    ),
  OUTBOUND_ALLOW_CIDRS: cidrs.default([]).describe('Exceptions to `OUTBOUND_DENY_CIDRS` and `BLOCK_PRIVATE_ADDRESSES`'),
  OUTBOUND_BRANCH_DENY_CIDRS: cidrs
    .default([])
    .describe('Same as `OUTBOUND_DENY_CIDRS`, but only for apps of branch environments, and without exceptions'),
};
