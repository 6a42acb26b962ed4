/** The audit entry of a request to a route of the REST API. */

import type { AuditedAction } from '../auth/audit-logger.ts';
import { environmentOf } from '../auth/guard.ts';
import { principalOf } from '../auth/principals.ts';
import type { Context } from '../http/router.ts';
import type { GivenInput, Route } from './route.ts';

/** Body fields that the entry includes; none of them is secret. */
const LOGGED_FIELDS = [
  'name',
  'email',
  'role',
  'environment_roles',
  'access',
  'environment',
  'kind',
  'version',
  'versioning',
  'activation',
  'percent',
  'abort_when',
  'since',
];
/** Fields that select objects: events or requests to replay, runs of bulk actions, events to send again, assign or
 *  discard, and allowed origins of apps. */
const LOGGED_SELECTION = [
  'action',
  'all',
  'filter',
  'from',
  'to',
  'outcomes',
  'reasons',
  'request_ids',
  'received_after',
  'received_before',
  'functions',
  'statuses',
  'rate',
  'cancel_runs',
  'ids',
  'webhook',
  'selection',
  'reason',
  'origins',
  'allow',
  'app',
  'url',
  'active',
  'last',
];
const SELECTING =
  /^\/v1\/(?:replays|runs\/bulk|holding|events\/send-again|webhooks\/:id\/replays|allowed-origins|held-registrations|what-ifs)(?:\/|$)/;
/** Maximum number of names shown of a list; a longer list is counted. */
const NAMED_MAX = 5;
const VALUE_MAX_LENGTH = 100;
const SELECTION_MAX_LENGTH = 500;

type AuditedRoute = Pick<Route, 'method' | 'path' | 'summary' | 'scope'>;

/** @param data the response's data, with the ID or name of a created object
 *  @param targetName what the object was called before the request */
export function auditEntryOf(
  ctx: Context,
  route: AuditedRoute,
  given: GivenInput,
  { data, targetName }: { data: unknown; targetName: string | undefined },
): AuditedAction {
  const { method, path, scope, summary } = route;
  const target = Object.values(given.params).join('/') || idOf(data);
  return {
    who: principalOf(ctx),
    action: `${method.toUpperCase()} ${path}`,
    ...(target && { target }),
    ...nameOf(data, target, targetName),
    ...(scope === 'environment' && { environment: environmentOf(ctx) }),
    summary: [
      summary,
      ...loggedFields(given.body),
      ...loggedSelection(path, given),
      ...matchedBy(data),
      ...eventsOf(path, data),
    ].join(', '),
  };
}

function loggedFields(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  return LOGGED_FIELDS.flatMap((name) => {
    const value = (body as Record<string, unknown>)[name];
    if (typeof value === 'number') return [`${name} ${value}`];
    if (typeof value === 'object' && value !== null) return [`${name} ${textOf(value).slice(0, VALUE_MAX_LENGTH)}`];
    return typeof value === 'string' ? [`${name} ${value.slice(0, VALUE_MAX_LENGTH)}`] : [];
  });
}

function loggedSelection(path: string, { query, body }: GivenInput): string[] {
  if (!SELECTING.test(path)) return [];
  const given: Record<string, unknown> = { ...query, ...(typeof body === 'object' && body) };
  return LOGGED_SELECTION.flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [`${name} ${textOf(value).slice(0, SELECTION_MAX_LENGTH)}`];
  });
}

/** Text for people: a filter as its fields, and IDs as their number. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.length > NAMED_MAX ? `${value.length}` : value.map(textOf).join(' or ');
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== null);
    return `(${fields.map(([name, field]) => `${name} ${textOf(field)}`).join('; ')})`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Number of runs that a bulk action matched before it began. */
function matchedBy(data: unknown): string[] {
  const { matched } = (data ?? {}) as { matched?: { count?: unknown; is_exact?: unknown } };
  if (typeof matched?.count !== 'number') return [];
  return [`${matched.is_exact === true ? '' : 'at least '}${matched.count} runs`];
}

/** Number of events assigned, discarded or sent again. */
function eventsOf(path: string, data: unknown): string[] {
  if (!SELECTING.test(path)) return [];
  const { assigned, sent, deleted } = (data ?? {}) as { assigned?: unknown; sent?: unknown; deleted?: unknown };
  const count = [assigned, sent].find(Array.isArray)?.length ?? deleted;
  return typeof count === 'number' ? [`${count} ${count === 1 ? 'event' : 'events'}`] : [];
}

/** The new name precedes the former one. */
function nameOf(data: unknown, target: string | undefined, former: string | undefined): { targetName?: string } {
  const { id, name, email } = (data ?? {}) as { id?: unknown; name?: unknown; email?: unknown };
  const own = id === target ? [name, email] : [];
  const targetName = [...own, former].find((value) => typeof value === 'string' && value !== target);
  return targetName === undefined ? {} : { targetName: targetName as string };
}

function idOf(data: unknown): string | undefined {
  const { id, name } = (data ?? {}) as { id?: unknown; name?: unknown };
  return [id, name].find((value) => typeof value === 'string') as string | undefined;
}
