/** Settings of Postgres: the archive, and outboxes of apps. */
import { z } from 'zod';
import { between } from './values.ts';

export const archive = {
  DATABASE_URL: z
    .url({ protocol: /^postgres(?:ql)?$/ })
    .optional()
    .describe('URL of Postgres 14 or newer, for what is older than `HOT_HOURS`. `?sslmode=require` enables TLS'),
  DATABASE_TLS_VERIFY: z
    .stringbool()
    .default(true)
    .describe(
      'Verify the certificate of Postgres. `false` also enables TLS where the URL has no `sslmode`. Heroku requires false',
    ),
  DATABASE_POOL_SIZE: between(2, 100).default(5).describe('Maximum number of connections to Postgres per process'),
  DATABASE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,40}$/)
    .default('tidegate')
    .describe('Schema of all tables. Installations that share a database need different schemas'),
  LARGE_BODIES_BUCKET_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "A bucket with the API of S3 that keeps webhooks' [large bodies](webhooks.md#large-bodies) instead of Postgres: `https://<key ID>:<secret key>@<host>/<bucket>?region=<region>`. Its lifecycle rule deletes them",
    ),
  HOT_HOURS: z.coerce
    .number()
    .min(0.001)
    .max(8_760)
    .default(24)
    .describe(
      'Age in hours at which events and ended runs move to Postgres, and the length of sleeps for which active runs do. At least 1; in dev mode also a fraction',
    ),
};

export const outbox = {
  OUTBOX_DATABASE_URL: z
    .url({ protocol: /^postgres(?:ql)?$/ })
    .optional()
    .describe(
      "URL of an app's Postgres, from whose outbox workers accept events. Its user needs SELECT, UPDATE and DELETE on `tidegate_outbox` and `tidegate_steps`. TLS as for `DATABASE_URL`",
    ),
  OUTBOX_ENVIRONMENT: z
    .string()
    .min(1)
    .max(128)
    .default('production')
    .describe('Environment of the events of that outbox'),
};
