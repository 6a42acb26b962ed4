/** What the audit log says of a request that changed something. */
import type { Context } from 'koa';
import type { AuditedAction } from './audit-log.ts';
import { environmentOf, type Rule } from './guard.ts';
import { principalOf } from './principals.ts';

/** Fields of a body that tell what was done and hold no secret. */
const TOLD = ['name', 'email', 'role', 'access', 'environment', 'kind'];
const LONGEST = 100;

/** Of a route, what names it. */
interface Named extends Rule {
  method: string;
  path: string;
  summary: string;
}

/** @param data what the route answered: it names what was made */
export function auditEntryOf(ctx: Context, { method, path, about, summary }: Named, data: unknown): AuditedAction {
  const target = Object.values(ctx.params as Record<string, string>).join('/') || idOf(data);
  return {
    who: principalOf(ctx),
    action: `${method.toUpperCase()} ${path}`,
    ...(target && { target }),
    ...(about === 'environment' && { environment: environmentOf(ctx) }),
    summary: [summary, ...told((ctx.request as { body?: unknown }).body)].join(', '),
  };
}

function told(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  return TOLD.flatMap((name) => {
    const value = (body as Record<string, unknown>)[name];
    return typeof value === 'string' ? [`${name} ${value.slice(0, LONGEST)}`] : [];
  });
}

function idOf(data: unknown): string | undefined {
  const { id, name } = (data ?? {}) as { id?: unknown; name?: unknown };
  return [id, name].find((value) => typeof value === 'string') as string | undefined;
}
