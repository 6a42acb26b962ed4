/** `/v1/holding`: the holding page, where webhook events without a valid environment wait until a user assigns them to an environment
 *  (docs/webhooks.md). */
import { z } from 'zod';
import { BACKPRESSURE_ERRORS, invalidField, ServiceError } from '../../errors.ts';
import { type Access, type AccessLevel, covers } from '../../model/auth/access.ts';
import { environmentNameSchema, refOf } from '../../model/environment.ts';
import { eventSchema } from '../../model/events/event.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { describe } from '../../model/values/json.ts';
import { EVENT_ORDER } from '../../model/webhooks/webhook-order.ts';
import type { Position } from '../../store/redis/pagination.ts';
import { HELD_REASONS, type HeldEvent } from '../../store/webhooks/held-events.ts';
import { apiObject, listUpTo, textOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { rejectArchived } from '../receive/resolve-environment.ts';
import { findHeldEvents, heldEventFilter } from '../rest/held-events-filter.ts';
import { BATCH_MAX, inBatches } from '../rest/in-batches.ts';
import { listReply, nextPage, pageQuery, timePosition } from '../rest/lists.ts';
import { heldEventNotFound, ownerOfHeldEvent, ownersOfWebhooks } from '../rest/owners.ts';
import { type AccessTo, type Route, routesOf } from '../rest/route.ts';
import { omittedField } from '../views/incomplete.ts';
import { present } from '../views/present.ts';

const IDS_MAX = 1_000;
/** Number of events read at once: each may be as large as a request. */
const IDS_AT_ONCE = 100;
const BULK_BOUNDS = 'about 10,000 events per request, for about 10 s';

export const heldSchema = apiObject('HeldEvent', {
  internal_id: z.string().describe('ID of the held event'),
  webhook_id: z.string(),
  selection: textOrNull.describe('The environment that the request selected; null: none'),
  reason: z.enum(HELD_REASONS),
  event: eventSchema,
  received_at: z.iso.datetime(),
  request_id: z.string().describe("Request ID, also in the webhook's request log"),
});

export const listedHeldSchema = heldSchema
  .extend({ event: eventSchema.partial({ data: true }), ...omittedField })
  .meta({ id: 'ListedHeldEvent' });

const assignedSchema = apiObject('AssignedEvent', {
  internal_id: z.string().describe('ID of the held event'),
  event_id: z
    .string()
    .describe('Internal ID of the accepted event; if an earlier event has the same `id`, the ID of that event'),
});

const moreSchema = z.boolean().describe('More events may match: repeat the request with metadata.cursor');
const params = z.object({ id: z.string().describe('Internal ID') });
const ids = listUpTo(IDS_MAX, z.string().regex(ID_PATTERN)).describe(
  'Internal IDs. Events that are not or no longer held are left out',
);
const cursorField = { cursor: pageQuery(timePosition).cursor };
const allField = {
  all: z.literal('true').optional().describe('true: every held event. Replaces the filter'),
};
const target = {
  environment: environmentNameSchema.describe('Name of the environment that gets the events'),
};

export function heldEventRoutes(deps: ApiParts): Route[] {
  const { heldEvents, webhooks, environments, acceptor, backpressure } = deps;
  const routes = routesOf({ tag: 'Holding page', scope: 'owner', owner: ownerOfHeldEvent(deps) });
  const path = '/v1/holding';

  /** @returns whether the principal has the needed access to the held events of a webhook */
  async function openTo(accessTo: AccessTo, needed: Access): Promise<(webhookId: string) => boolean> {
    const ownerOf = await ownersOfWebhooks(webhooks);
    return (webhookId) => covers(accessTo(ownerOf(webhookId)), needed);
  }

  async function existing(id: string): Promise<HeldEvent> {
    const held = await heldEvents.read(id);
    if (!held) throw heldEventNotFound(id);
    return held;
  }

  async function heldAmong(ids: readonly string[], isOpen: (webhookId: string) => boolean): Promise<HeldEvent[]> {
    const found = await Promise.all(ids.map((id) => heldEvents.read(id)));
    return found.filter((held) => held !== undefined && isOpen(held.webhookId)) as HeldEvent[];
  }

  async function checkTarget(name: string, accessTo: AccessTo): Promise<void> {
    const environment = await environments.findOrFetch(name);
    requireWrite(accessTo(refOf(name, environment)), name);
    if (!environment) throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
    rejectArchived(environment);
  }

  /** Accepts the event as if the environment received it now, with its original `ts`. The event leaves the holding page last, so
   *  that a crash loses nothing. */
  async function assign(heldEvent: HeldEvent, env: string) {
    const { internalId, webhookId, event: held, order, requestId } = heldEvent;
    const assignedTo = await heldEvents.assign(internalId, env);
    if (assignedTo !== env) throw heldEventNotFound(internalId, `; it was assigned to "${assignedTo}"`);
    const request = { env, source: `webhook:${webhookId}` as const, requestId, receivedAt: Date.now() };
    const event = order ? { ...held, [EVENT_ORDER]: order } : held;
    const eventId = await acceptor.acceptWithId(event, internalId, request);
    await heldEvents.remove(heldEvent);
    return { internal_id: internalId, event_id: eventId };
  }

  /** @throws ServiceError access_denied */
  function requireWrite(access: AccessLevel, name: string): void {
    if (covers(access, 'write')) return;
    throw new ServiceError('access_denied', { detail: `this request needs write access to the environment "${name}"` });
  }

  async function removeAll(page: readonly HeldEvent[]): Promise<number> {
    const deleted = await Promise.all(page.map((held) => heldEvents.remove(held)));
    return deleted.filter(Boolean).length;
  }

  return [
    routes.get(path, {
      owner: 'each',
      operationId: 'listHeldEvents',
      summary: 'List held events',
      description:
        'Newest first. With a filter, a page may have fewer events than its limit although more follow; only the last page has no cursor.',
      query: z.object({ ...heldEventFilter, ...pageQuery(timePosition) }),
      data: z.array(listedHeldSchema),
      async handle({ accessTo, query: { limit, cursor, ...filter } }) {
        const isOpen = await openTo(accessTo, 'read');
        const { page, next } = await findHeldEvents(heldEvents, filter, isOpen, { limit, cursor });
        return listReply(page, { present: presentHeld, positionOf, next, omittable: ['event.data', 'event.user'] });
      },
    }),
    routes.get(`${path}/:id`, {
      operationId: 'getHeldEvent',
      summary: 'Get a held event',
      params,
      data: heldSchema,
      async handle({ params: { id } }) {
        return { data: presentHeld(await existing(id)) };
      },
    }),
    routes.post(`${path}/:id/assign`, {
      operationId: 'assignHeldEvent',
      summary: 'Assign a held event to an environment',
      description: 'The environment ingests the event as if it had received it, and the event leaves the holding page.',
      params,
      body: z.object(target),
      data: assignedSchema,
      errors: ['not_found', 'environment_unknown', 'environment_archived', ...BACKPRESSURE_ERRORS],
      async handle({ accessTo, params: { id }, body: { environment } }) {
        backpressure.admit();
        await checkTarget(environment, accessTo);
        return { data: await assign(await existing(id), environment) };
      },
    }),
    routes.post(`${path}/assign`, {
      owner: 'each',
      operationId: 'assignHeldEvents',
      summary: 'Assign held events to an environment by filter or ID',
      description: `Newest first, ${BULK_BOUNDS}. \`ids\` selects these events only.`,
      body: z.object({ ...target, ...heldEventFilter, ...cursorField, ids: ids.optional() }),
      data: z.object({ assigned: z.array(assignedSchema), more: moreSchema }),
      errors: ['environment_unknown', 'environment_archived', ...BACKPRESSURE_ERRORS],
      async handle({ accessTo, body: { environment, cursor, ids, ...filter } }) {
        if (ids) rejectFilter({ ...filter, cursor });
        await checkTarget(environment, accessTo);
        const isOpen = await openTo(accessTo, 'write');
        const assigned: z.input<typeof assignedSchema>[] = [];
        const assignAll = async (page: readonly HeldEvent[]) => {
          backpressure.admit();
          // Another request may have assigned some of these events in the meantime.
          await Promise.all(
            page.map(async (held) => {
              const assignment = await assign(held, environment).catch(ignoreNotFound);
              if (assignment) assigned.push(assignment);
            }),
          );
        };
        for (const some of chunksOf([...new Set(ids)], IDS_AT_ONCE)) await assignAll(await heldAmong(some, isOpen));
        const find = (from: typeof cursor) =>
          findHeldEvents(heldEvents, filter, isOpen, { limit: BATCH_MAX, cursor: from });
        const next = ids ? undefined : await inBatches(cursor, find, assignAll);
        return { data: { assigned, more: next !== undefined }, metadata: nextPage(next) };
      },
    }),
    routes.post(`${path}/discard`, {
      owner: 'each',
      operationId: 'discardHeldEvents',
      summary: 'Delete held events by ID',
      body: z.strictObject({ ids }),
      data: z.object({ deleted: z.int() }),
      async handle({ accessTo, body: { ids } }) {
        const isOpen = await openTo(accessTo, 'write');
        let deleted = 0;
        for (const some of chunksOf([...new Set(ids)], IDS_AT_ONCE)) {
          deleted += await removeAll(await heldAmong(some, isOpen));
        }
        return { data: { deleted } };
      },
    }),
    routes.delete(`${path}/:id`, {
      operationId: 'deleteHeldEvent',
      summary: 'Delete a held event',
      params,
      async handle({ params: { id } }) {
        if (!(await heldEvents.remove(await existing(id)))) throw heldEventNotFound(id);
        return {};
      },
    }),
    routes.delete(path, {
      owner: 'each',
      operationId: 'deleteHeldEvents',
      summary: 'Delete held events by filter',
      description: `Newest first, ${BULK_BOUNDS}. Requires a filter or \`all=true\`.`,
      query: z.object({ ...heldEventFilter, ...allField, ...cursorField }),
      data: z.object({ deleted: z.int(), more: moreSchema }),
      async handle({ accessTo, query: { cursor, all, ...filter } }) {
        requireFilter(filter, all);
        const isOpen = await openTo(accessTo, 'write');
        let deleted = 0;
        const next = await inBatches(
          cursor,
          (from) => findHeldEvents(heldEvents, filter, isOpen, { limit: BATCH_MAX, cursor: from }),
          async (page) => {
            deleted += await removeAll(page);
          },
        );
        return { data: { deleted, more: next !== undefined }, metadata: nextPage(next) };
      },
    }),
  ];
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
  return undefined;
}

/** A request without a filter, sent by mistake, must not delete everything.
 *  @throws ServiceError input_invalid */
function requireFilter(filter: object, all: 'true' | undefined): void {
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  if (isFiltered !== (all === 'true')) return;
  throw new ServiceError('input_invalid', {
    detail: isFiltered
      ? 'query parameter "all": cannot be combined with a filter; remove one of them'
      : 'the filter is missing; add one, or send all=true to delete every held event',
    facts: { field: 'all' },
  });
}

/** @throws ServiceError input_invalid */
function rejectFilter(filter: object): void {
  if (Object.values(filter).every((value) => value === undefined)) return;
  throw invalidField('ids', 'it selects by itself; remove the filter');
}

function positionOf({ receivedAt, internalId }: HeldEvent): Position {
  return { at: receivedAt, id: internalId };
}

function presentHeld(held: HeldEvent) {
  return present(heldSchema, held, { event: held.event });
}
