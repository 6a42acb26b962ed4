/** `/v1/audit`: who changed what, and who was refused. */
import { z } from 'zod';
import type { StoredAuditEntry } from '../../store/auth/audit-log.ts';
import type { StoredRejection } from '../../store/auth/rejection-log.ts';
import type { Store } from '../../store/store.ts';
import { listReply } from '../rest/list-response.ts';
import { pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';

/** Redis takes no 0-0 here. */
const entryId = z.string().regex(/^[1-9]\d{0,14}-\d{1,15}$/);
const refusalPosition = z.string().regex(/^[1-9]\d{0,15}$/);

export const entrySchema = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    who: z.object({ kind: z.enum(['user', 'api-key', 'setting', 'dev']), id: z.string(), name: z.string() }),
    action: z.string().meta({ description: 'A route, or sign-in and the like' }),
    target: z.string().nullable().meta({ description: 'ID or name of what it was done to' }),
    environment: z.string().nullable(),
    summary: z.string(),
    ip: z.string(),
    request_id: z.string(),
  })
  .meta({ id: 'AuditEntry' });

export const refusalSchema = z
  .object({
    id: z.string(),
    action: z.string().meta({ description: 'What was attempted: sign-in, change-password, set-password or set-up' }),
    reason: z.string().meta({ description: 'Why it was refused: the code of an error' }),
    name: z.string().nullable().meta({ description: 'The email address that was given' }),
    address: z.string().meta({ description: 'An IPv4 address, or an IPv6 network of a /64' }),
    count: z.int().min(1).meta({ description: 'How often' }),
    first_at: z.iso.datetime(),
    last_at: z.iso.datetime(),
    request_id: z.string().meta({ description: 'Of the last of them' }),
  })
  .meta({ id: 'Refusal' });

export function auditRoutes({ auditLog, rejectionLog }: Pick<Store, 'auditLog' | 'rejectionLog'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/audit',
      tag: 'Audit log',
      access: 'admin',
      about: 'account',
      summary: 'List what was changed, newest first',
      description: 'The last 10,000 changes and sign-ins. Attempts that were refused: GET /v1/audit/refusals.',
      query: z.object({
        ...pageQuery(entryId),
      }),
      data: z.array(entrySchema),
      errors: [],
      async handle({ query: { limit, cursor } }) {
        const page = await auditLog.list(limit, cursor);
        const next = page.length === limit ? page.at(-1)?.id : undefined;
        return listReply(page, { present, positionOf: ({ id }) => id, next });
      },
    }),
    route({
      method: 'get',
      path: '/v1/audit/refusals',
      tag: 'Audit log',
      access: 'admin',
      about: 'account',
      summary: 'List refused attempts to sign in, those that were repeated last first',
      description:
        'Attempts for the same reason, with the same email address, from the same address are one entry. The last 1,000 entries, for 30 days.',
      query: z.object({
        ...pageQuery(refusalPosition),
      }),
      data: z.array(refusalSchema),
      errors: [],
      async handle({ query: { limit, cursor } }) {
        const page = await rejectionLog.list(limit, cursor);
        const next = page.length === limit ? page.at(-1)?.position : undefined;
        return listReply(page, { present: presentRefusal, positionOf: ({ position }) => position, next });
      },
    }),
  ];
}

function present({ id, at, who, action, target, environment, summary, ip, requestId }: StoredAuditEntry) {
  return {
    id,
    at: new Date(at).toISOString(),
    who,
    action,
    target: target ?? null,
    environment: environment ?? null,
    summary,
    ip,
    request_id: requestId,
  };
}

function presentRefusal({ id, action, reason, name, address, count, firstAt, lastAt, requestId }: StoredRejection) {
  return {
    id,
    action,
    reason,
    name: name || null,
    address,
    count,
    first_at: new Date(firstAt).toISOString(),
    last_at: new Date(lastAt).toISOString(),
    request_id: requestId,
  };
}
