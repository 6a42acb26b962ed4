/** Settings of quotas: how much each environment may have. */
import { z } from 'zod';
import { originPatternsSchema } from '../origin-patterns.ts';
import { list, positive } from './values.ts';

/** Maximum batch size and age that the settings can allow. */
export const BATCH_SIZE_HIGHEST = 10_000;
export const BATCH_TIMEOUT_HIGHEST_SECONDS = 86_400;

export const quotas = {
  API_RATE_LIMIT: z.coerce
    .number()
    .int()
    .min(0)
    .default(6_000)
    .describe(
      'Requests per minute of an API key, app or user to the REST API, then 429. 0 disables the limit. Events and webhooks do not count',
    ),
  APPS_MAX: positive.default(200).describe('Maximum number of apps per environment'),
  FUNCTIONS_PER_APP_MAX: positive
    .max(10_000)
    .default(2_000)
    .describe('Maximum number of functions per app. At most 10,000'),
  FUNCTIONS_MAX: positive
    .default(5_000)
    .describe('Maximum number of functions per environment, and as many archived ones'),
  DESTINATIONS_MAX: positive.default(100).describe('Maximum number of destinations per environment'),
  TRIGGERS_PER_FUNCTION_MAX: positive.default(10).describe('Maximum number of triggers per function'),
  CANCEL_EVENTS_PER_FUNCTION_MAX: positive
    .default(5)
    .describe('Maximum number of events that cancel runs of a function'),
  BATCH_SIZE_MAX: positive
    .min(2)
    .max(BATCH_SIZE_HIGHEST)
    .default(100)
    .describe('Maximum `maxSize` of `batchEvents` that a function may ask for. At most 10,000'),
  BATCH_TIMEOUT_MAX_SECONDS: positive
    .max(BATCH_TIMEOUT_HIGHEST_SECONDS)
    .default(60)
    .describe('Maximum `timeout` of `batchEvents` that a function may ask for. At most one day'),
  APP_ORIGINS: list
    .pipe(originPatternsSchema)
    .default([])
    .describe(
      'Comma-separated origins allowed for apps and endpoints of all environments. `*` stands for a part of a label: `https://shop-*-acme.example.app`',
    ),
  NEW_APPS: z
    .enum(['accept', 'hold'])
    .default('accept')
    .describe(
      'First registrations at an origin that nobody has allowed: `accept`, or `hold` until somebody confirms. Not in dev mode',
    ),
  UNSUPPORTED: z
    .enum(['report', 'reject'])
    .default('report')
    .describe('Registrations with unsupported fields: `report` registers the app and lists them, `reject` refuses it'),
  FUNCTION_CONFIG_MAX_BYTES: positive.default(65_536).describe('Maximum size of a function configuration as JSON'),
  BRANCH_ENVIRONMENTS_MAX: positive
    .default(200)
    .describe('Maximum number of branch environments, including archived ones'),
  BRANCH_EXPIRY_DAYS: z.coerce
    .number()
    .min(0)
    .default(30)
    .describe(
      'Archive a branch environment after this many days without use, and delete it after twice as many. 0 disables expiry',
    ),
};
