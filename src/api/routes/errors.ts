/** `/v1/errors`: why runs fail, in groups of the same error. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import {
  countWithin,
  ERROR_GROUP_STATES,
  type ErrorGroup,
  type ErrorGroupState,
  HOURS_KEPT,
} from '../../model/errors/error-group.ts';
import { FINGERPRINT_PATTERN } from '../../model/errors/fingerprint.ts';
import { describe } from '../../model/values/json.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { ALERT_CHANNELS_MAX } from '../../store/alerts/alert-channels.ts';
import { after } from '../../store/errors/error-groups.ts';
import type { Position } from '../../store/redis/pagination.ts';
import { listUpTo, textUpTo, timeSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { checkChannels } from '../rest/alert-channel-names.ts';
import { listQuery, listReply, pageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import {
  detailedErrorGroupSchema,
  type ErrorTimes,
  errorGroupSchema,
  presentErrorGroup,
} from '../views/error-group.ts';

const READ_AT_ONCE = 100;

const params = z.object({ fingerprint: z.string().max(64) });
const groupPosition = z.object({ at: z.int().min(0), id: z.string().regex(FINGERPRINT_PATTERN) });

const ACTIONS = [
  ['resolve', 'resolved', 'Resolve an error group', 'The next failure reopens it.'],
  ['ignore', 'ignored', 'Ignore an error group', 'Failures are counted, but do not reopen it, and alert nobody.'],
  ['reopen', 'open', 'Reopen an error group', 'Its failures count as new from now on.'],
] as const satisfies [string, ErrorGroupState, string, string][];

const routes = routesOf({ tag: 'Errors', scope: 'environment' });

export function errorRoutes({ errorGroups, functionTables, deploys, alertChannels }: ApiParts): Route[] {
  async function present(env: string, groups: readonly ErrorGroup[], times: ErrorTimes) {
    const table = await functionTables.of(env);
    const functions = groups.map(({ functionId }) => table.find(functionId));
    const apps = [...new Set(functions.flatMap((fn) => fn?.app ?? []))];
    const ofApps = await Promise.all(apps.map(async (app) => [app, await deploys.list(env, app)] as const));
    const byApp = new Map(ofApps);
    return groups.map((group, i) => {
      const { app, name = group.functionId } = functions[i] ?? {};
      const changes = (byApp.get(app ?? '') ?? []).filter(({ first }) => !first);
      const since = changes.find(({ at }) => at <= group.openedAt);
      const newer = changes[0] && changes[0].at > group.lastSeen ? changes[0] : undefined;
      return presentErrorGroup(group, { name, app }, { since, newer }, times);
    });
  }

  async function existing(env: string, fingerprint: string): Promise<ErrorGroup> {
    const [group] = FINGERPRINT_PATTERN.test(fingerprint) ? await errorGroups.read(env, [fingerprint]) : [];
    if (group) return group;
    throw new ServiceError('not_found', {
      detail: `there is no error group with the fingerprint ${describe(fingerprint)}`,
    });
  }

  async function presentOne(env: string, fingerprint: string) {
    const group = await existing(env, fingerprint);
    const times = { from: undefined, to: Date.now() };
    const [[shown], count] = await Promise.all([
      present(env, [group], times),
      errorGroups.countUsers(env, fingerprint),
    ]);
    return { ...shown, users: { count, runs: group.withUser } };
  }

  /** Groups change while they are read: a group may have been deleted or have another state by now. */
  async function page(
    env: string,
    positions: readonly Position[],
    isWanted: (group: ErrorGroup) => boolean,
    limit: number,
  ): Promise<{ found: ErrorGroup[]; next: Position | undefined }> {
    const found: ErrorGroup[] = [];
    for (let start = 0; start < positions.length; start += READ_AT_ONCE) {
      const some = positions.slice(start, start + READ_AT_ONCE);
      const groups = await errorGroups.read(
        env,
        some.map(({ id }) => id),
      );
      for (const [i, group] of groups.entries()) {
        if (!group || !isWanted(group)) continue;
        found.push(group);
        const isLast = start + i + 1 === positions.length;
        if (found.length === limit) return { found, next: isLast ? undefined : some[i] };
      }
    }
    return { found, next: undefined };
  }

  return [
    routes.get('/v1/errors', {
      operationId: 'listErrorGroups',
      summary: 'List error groups',
      description:
        'Failed runs of a function with the same error form a group. The group with the newest failure comes first. Failures are counted by hour for 7 days; a ' +
        'group is deleted 30 days after its last failure. A function has at most 100 groups, an environment at most 1,000. Without a time range, ' +
        '`metadata.total` is the number of groups of all pages.',
      query: z.object({
        ...pageQuery(groupPosition),
        state: listQuery(ERROR_GROUP_STATES).describe('Absent: all'),
        function_id: textUpTo(512).optional(),
        from: timeSchema.optional().describe('Groups with failures since this time; at most 7 days ago'),
        to: timeSchema.optional().describe('Exclusive. Default: now'),
      }),
      data: z.array(errorGroupSchema),
      async handle({ env, query: { function_id: functionId, state: states, limit, cursor, ...range } }) {
        const times = timesOf(range, Date.now());
        const { from, to } = times;
        const isWanted = (group: ErrorGroup) =>
          (!states || states.includes(group.state)) && (from === undefined || countWithin(group, from, to) > 0);
        const all = await errorGroups.positions(env, { functionId, states });
        const inRange = from === undefined ? all : all.filter(({ at }) => at >= from);
        const { found, next } = await page(env, after(inRange, cursor), isWanted, limit);
        const shown = await present(env, found, times);
        const positions = new Map(found.map(({ fingerprint: id, lastSeen: at }) => [id, { at, id }]));
        const isExact = from === undefined && (functionId === undefined || !states);
        const reply = listReply(shown, {
          present: (group) => group,
          positionOf: ({ fingerprint }) => positions.get(fingerprint),
          next,
        });
        return { ...reply, metadata: { ...reply.metadata, ...(isExact && { total: all.length }) } };
      },
    }),
    routes.get('/v1/errors/:fingerprint', {
      operationId: 'getErrorGroup',
      summary: 'Get an error group',
      params,
      data: detailedErrorGroupSchema,
      async handle({ env, params: { fingerprint } }) {
        return { data: await presentOne(env, fingerprint) };
      },
    }),
    routes.patch('/v1/errors/:fingerprint', {
      operationId: 'assignErrorGroup',
      summary: 'Assign an error group to alert channels',
      description:
        'They hear of it whenever a run fails with it, instead of those of the rule `new_error`; not while it is resolved or ignored.',
      params,
      body: z.strictObject({
        alert_channels: listUpTo(ALERT_CHANNELS_MAX, z.string().max(64)).nullable().describe('null: those of the rule'),
      }),
      data: detailedErrorGroupSchema,
      errors: ['not_found', 'input_invalid'],
      async handle({ env, params: { fingerprint }, body: { alert_channels: names } }) {
        await existing(env, fingerprint);
        if (names) await checkChannels(alertChannels, env, 'alert_channels', names);
        await errorGroups.setAlertChannels(env, fingerprint, names ?? undefined);
        return { data: await presentOne(env, fingerprint) };
      },
    }),
    ...ACTIONS.map(([action, to, summary, description]) =>
      routes.post(`/v1/errors/:fingerprint/${action}`, {
        operationId: `${action}ErrorGroup`,
        summary,
        description,
        params,
        data: detailedErrorGroupSchema,
        async handle({ env, params: { fingerprint }, principal: { kind, id, name } }) {
          await existing(env, fingerprint);
          const changed = await errorGroups.change(env, fingerprint, to, { kind, id, name }, Date.now());
          return { data: await presentOne(env, fingerprint), ...(!changed && { audited: false as const }) };
        },
      }),
    ),
  ];
}

/** Clamps the time range to the hours with counts.
 *  @throws ServiceError input_invalid when it ends before it begins */
function timesOf(
  { from, to = Number.POSITIVE_INFINITY }: { from?: number | undefined; to?: number | undefined },
  nowMs: number,
): ErrorTimes {
  const isRange = from !== undefined || to !== Number.POSITIVE_INFINITY;
  const end = Math.min(to, nowMs);
  if (from !== undefined && from >= end) {
    throw new ServiceError('input_invalid', {
      detail: 'query parameter "from": expected a time before "to" and before now',
      facts: { field: 'from' },
    });
  }
  const oldest = nowMs - HOURS_KEPT * HOUR_MS;
  return { from: isRange ? Math.max(from ?? oldest, oldest) : undefined, to: Math.max(end, oldest) };
}
