/** `/v1/audit`: the audit log and the rejection log. */
import { z } from 'zod';
import { apiObject, principal, textOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listReply, pageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

/** An ID of a Redis stream; Redis rejects 0-0. */
const entryId = z.string().regex(/^[1-9]\d{0,14}-\d{1,15}$/);
const rejectionPosition = z.string().regex(/^[1-9]\d{0,15}$/);

export const entrySchema = apiObject('AuditEntry', {
  id: z.string(),
  at: z.iso.datetime(),
  who: principal,
  action: z.string().describe('A route of the API, or sign-in, set-up or set-password'),
  target: textOrNull.describe('ID or name of the changed object'),
  target_name: textOrNull.describe(
    'Its name after the change, if it has one beside its ID; null of entries of earlier versions',
  ),
  environment: textOrNull,
  summary: z.string(),
  ip: z.string(),
  request_id: z.string(),
});

export const rejectionSchema = apiObject('Rejection', {
  id: z.string(),
  action: z.string().describe('sign-in, change-password, set-password or set-up'),
  reason: z.string().describe('The error code'),
  name: textOrNull.describe('Email address of the attempt'),
  address: z.string().describe('An IPv4 address, or an IPv6 /64 network'),
  count: z.int().min(1).describe('Number of attempts'),
  first_at: z.iso.datetime(),
  last_at: z.iso.datetime(),
  request_id: z.string().describe('Request ID of the last attempt'),
});

const routes = routesOf({ tag: 'Audit log', scope: 'installation', access: 'admin' });

export function auditRoutes({ auditLog, rejectionLog }: ApiParts): Route[] {
  return [
    routes.get('/v1/audit', {
      operationId: 'listAuditEntries',
      summary: 'List audit entries',
      description:
        'Changes and sign-ins, newest first: the last 10,000, or with an archive those of `AUDIT_RETENTION_DAYS`. `GET /v1/audit/refusals` lists rejected attempts to sign in.',
      query: z.object({
        ...pageQuery(entryId),
      }),
      data: z.array(entrySchema),
      async handle({ query: { limit, cursor } }) {
        const { entries, next, stoppedEarly } = await auditLog.list(limit, cursor);
        return listReply(entries, {
          present: (entry) => present(entrySchema, entry),
          positionOf: ({ id }) => id,
          next,
          stoppedEarly,
        });
      },
    }),
    routes.get('/v1/audit/refusals', {
      operationId: 'listRejectedSignIns',
      summary: 'List rejected sign-ins',
      description:
        'Attempts with the same reason, email address and network address share one entry. The last 1,000 entries of 30 days, by their last attempt, newest first.',
      query: z.object({
        ...pageQuery(rejectionPosition),
      }),
      data: z.array(rejectionSchema),
      async handle({ query: { limit, cursor } }) {
        const page = await rejectionLog.list(limit, cursor);
        const next = page.length === limit ? page.at(-1)?.position : undefined;
        return listReply(page, {
          present: (rejection) => present(rejectionSchema, rejection, { name: rejection.name || null }),
          positionOf: ({ position }) => position,
          next,
        });
      },
    }),
  ];
}
