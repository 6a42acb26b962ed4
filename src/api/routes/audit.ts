/** `/v1/audit`: who changed what. */
import { z } from 'zod';
import type { StoredAuditEntry } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { nextPage, pageQuery } from '../cursor.ts';
import { type Route, route } from '../route.ts';

/** Redis takes no 0-0 here. */
const entryId = z.string().regex(/^[1-9]\d{0,14}-\d{1,15}$/);

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

export function auditRoutes({ audit }: Pick<Store, 'audit'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/audit',
      tag: 'Audit log',
      access: 'admin',
      about: 'account',
      summary: 'List what was changed, newest first',
      description: 'The last 10,000 changes and attempts to sign in.',
      query: z.object({
        ...pageQuery(entryId),
      }),
      data: z.array(entrySchema),
      errors: [],
      async handle({ query: { limit, cursor } }) {
        const page = await audit.list(limit, cursor);
        const last = page.at(-1);
        return { data: page.map(present), metadata: nextPage(page.length === limit ? last?.id : undefined) };
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
