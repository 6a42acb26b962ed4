/** The API's representation of the result of a sync request. */
import { z } from 'zod';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { covers, type Principal } from '../../model/auth/access.ts';
import type { SyncResult } from '../apps/sync.ts';

export const unsupportedSchema = z
  .array(
    z.object({
      function: z.string().nullable().describe('ID of the function; null: a field of the app itself'),
      field: z.string().meta({ examples: ['triggers.0.debounce'] }),
      message: z.string(),
    }),
  )
  .describe('Fields of the last registration that the service ignores, at most 100');

export const syncResultSchema = z.object({
  url: z.url(),
  functions: z
    .array(z.object({ id: z.string(), problems: z.array(z.string()) }))
    .describe(
      'All functions of the app, sorted by ID; problems: parts of a function that do not work as configured, none if it works',
    ),
  unsupported: unsupportedSchema,
  unsupported_count: z.int(),
});

export const SYNC_ERRORS = [
  'app_unreachable',
  'address_blocked',
  'registration_invalid',
  'registration_held',
  'environment_archived',
  'quota_exceeded',
  'memory_short',
] as const satisfies ErrorCode[];

export function presentSync(url: string, { functions, unsupported }: SyncResult) {
  return { url, functions, unsupported: unsupported?.fields ?? [], unsupported_count: unsupported?.count ?? 0 };
}

export const NOT_REGISTERED = 'the app did not register; ask an admin for the reason';

/** Only admins get the details, which would reveal the network around the service. */
export function withoutDetails(error: unknown, { access }: Principal): unknown {
  const hasDetails =
    error instanceof ServiceError && (error.code === 'app_unreachable' || error.code === 'address_blocked');
  return hasDetails && !covers(access, 'admin')
    ? new ServiceError('app_unreachable', { detail: NOT_REGISTERED, cause: error })
    : error;
}
