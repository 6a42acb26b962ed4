/** Settings of the live stream, alerts and metrics. */
import { z } from 'zod';
import { emailSchema, port, positive } from './values.ts';

/** Placeholders of a trace link. */
const TRACE_URL_PLACEHOLDERS: ReadonlySet<string> = new Set(['trace_id', 'run_id', 'env']);

/** Braces without a placeholder, such as JSON in a query, are kept. Apps must not influence the host. */
const traceUrlTemplate = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine((text) => text.includes('{trace_id}'), { error: 'expected the placeholder {trace_id}' })
  .refine((text) => [...text.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => TRACE_URL_PLACEHOLDERS.has(name)), {
    error: 'expected no other placeholders than {trace_id}, {run_id} and {env}',
  })
  .refine((text) => !/^https?:\/\/[^/?#]*\{/.test(text), { error: 'expected placeholders only after the host' });

export const realtime = {
  REALTIME_TOKEN_SECONDS: positive
    .max(86_400)
    .default(60)
    .describe('How long a subscription token can be used to connect'),
  REALTIME_MESSAGE_MAX_BYTES: positive
    .max(4_194_304)
    .default(524_288)
    .describe('Maximum size of a realtime message. At most 4 MiB'),
  REALTIME_MESSAGES_PER_SECOND: positive
    .default(1_000)
    .describe('Realtime messages of an environment per second and web process. Each started 16 KiB count as one'),
  REALTIME_SUBSCRIBERS_MAX: positive
    .max(10_000)
    .default(1_000)
    .describe(
      'Maximum number of realtime connections of an environment, or of all branches, per web process; a tenth per token',
    ),
};

export const alerts = {
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe(
      'Mail server for [alerts](alerts.md): `smtp://user:password@mail.example.com:587`, or `smtps://` with TLS from the start. `?requireTLS=true` sends nothing without TLS',
    ),
  ALERT_FROM: emailSchema.optional().describe('Sender of that mail. Required with `SMTP_URL`'),
};

export const metrics = {
  METRICS_PORT: port
    .optional()
    .describe('Separate port for Prometheus (`GET /metrics`) on web and worker. 0 selects any free port'),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      'Token that enables `GET /metrics` on the main port of web; `METRICS_PORT` then requires it too. At least 16 characters',
    ),
  TRACE_URL_TEMPLATE: traceUrlTemplate
    .optional()
    .describe(
      'Address of a trace, which the dashboard links from each run: `https://traces.example.com/trace/{trace_id}`; also `{run_id}`, `{env}`',
    ),
};
