/** `/v1/holding`: the holding page (docs/webhooks.md#holding-page), where webhook events without an environment wait to be assigned. */
import { z } from 'zod';
import { NOT_NOW, ServiceError } from '../../errors.ts';
import type { Acceptor } from '../../jobs/ingestion/acceptor.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { environmentNameSchema } from '../../model/environment.ts';
import { eventSchema } from '../../model/events/event.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Position } from '../../store/redis/pagination.ts';
import { HELD_REASONS, type HeldEvent, type HeldEvents } from '../../store/webhooks/held-events.ts';
import { refuseArchived } from '../receive/resolve-environment.ts';
import { findHeld, holdingFilter } from '../rest/held-events-filter.ts';
import { listReply, omittedField } from '../rest/list-response.ts';
import { inTime, nextPage, pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import { time } from '../views/time.ts';

/** Assigned or deleted in one request. */
const AT_ONCE = 500;

export const heldSchema = z
  .object({
    internal_id: z.string().meta({ description: 'The ID that the event has, and keeps when it is assigned' }),
    webhook_id: z.string(),
    selection: z.string().nullable().meta({ description: 'The environment that the request selected; null: none' }),
    reason: z.enum(HELD_REASONS),
    event: eventSchema,
    received_at: z.iso.datetime(),
    request_id: z.string().meta({ description: "Also in the webhook's log" }),
  })
  .meta({ id: 'HeldEvent' });

export const listedHeldSchema = heldSchema
  .extend({ event: eventSchema.partial({ data: true }), ...omittedField })
  .meta({ id: 'ListedHeldEvent' });

const assignedSchema = z
  .object({
    internal_id: z.string().meta({ description: 'The ID that the event had on the holding page' }),
    event_id: z.string().meta({
      description: 'Internal ID to look it up by; of an earlier event that has the same `id`, if there is one',
    }),
  })
  .meta({ id: 'AssignedEvent' });

const moreSchema = z.boolean().meta({ description: 'There may be more: ask again with metadata.cursor' });
const params = z.object({ id: z.string().meta({ description: 'Internal ID' }) });
const goOn = { cursor: pageQuery(inTime).cursor };
const allOfThem = {
  all: z.literal('true').optional().meta({ description: 'In place of a filter: every held event' }),
};
const target = { environment: environmentNameSchema.meta({ description: 'Name of the environment that takes them' }) };

export interface HoldingRouteDeps {
  heldEvents: HeldEvents;
  environments: Environments;
  acceptor: Acceptor;
  pressure: Backpressure;
}

export function holdingRoutes({ heldEvents, environments, acceptor, pressure }: HoldingRouteDeps): Route[] {
  const tag = 'Holding page';
  const about = 'account';
  const path = '/v1/holding';

  async function existing(id: string): Promise<HeldEvent> {
    const held = await heldEvents.read(id);
    if (!held) throw notFound(id);
    return held;
  }

  async function checkTarget(name: string): Promise<void> {
    const environment = await environments.findOrFetch(name);
    if (!environment) throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
    refuseArchived(environment);
  }

  /** As if it had come there now; only its own time stays that of its receipt. It leaves the page last, so that nothing is lost. */
  async function assign({ internalId, webhookId, event, requestId }: HeldEvent, env: string) {
    const taker = await heldEvents.assign(internalId, env);
    if (taker !== env) throw notFound(internalId, `; it was assigned to "${taker}"`);
    const arrival = { env, source: `webhook:${webhookId}` as const, requestId, receivedAt: Date.now() };
    const eventId = await acceptor.acceptWithId(event, internalId, arrival);
    await heldEvents.remove(internalId);
    return { internal_id: internalId, event_id: eventId };
  }

  return [
    route({
      method: 'get',
      path,
      tag,
      access: 'read',
      about,
      summary: 'List held events, newest first',
      description:
        'With a filter a page may be shorter than its limit, and others still follow: go by metadata.cursor.',
      query: z.object({ ...holdingFilter, ...pageQuery(inTime) }),
      data: z.array(listedHeldSchema),
      errors: [],
      async handle({ query: { limit, cursor, ...filter } }) {
        const { page, next } = await findHeld(heldEvents, filter, { limit, cursor });
        return listReply(page, { present, positionOf, next, omittable: ['event.data', 'event.user'] });
      },
    }),
    route({
      method: 'get',
      path: `${path}/:id`,
      tag,
      access: 'read',
      about,
      summary: 'Read a held event',
      params,
      data: heldSchema,
      errors: ['not_found'],
      async handle({ params: { id } }) {
        return { data: present(await existing(id)) };
      },
    }),
    route({
      method: 'post',
      path: `${path}/:id/assign`,
      tag,
      access: 'write',
      about,
      summary: 'Assign a held event to an environment',
      description: 'It is ingested there as if it had come there, and leaves the holding page.',
      params,
      body: z.object(target),
      data: assignedSchema,
      errors: ['not_found', 'environment_unknown', 'environment_archived', ...NOT_NOW],
      async handle({ params: { id }, body: { environment } }) {
        pressure.admit();
        await checkTarget(environment);
        return { data: await assign(await existing(id), environment) };
      },
    }),
    route({
      method: 'post',
      path: `${path}/assign`,
      tag,
      access: 'write',
      about,
      summary: 'Assign held events to an environment, by filter',
      description: `Newest first, at most ${AT_ONCE} at once.`,
      body: z.object({ ...target, ...holdingFilter, ...goOn }),
      data: z.object({ assigned: z.array(assignedSchema), more: moreSchema }),
      errors: ['environment_unknown', 'environment_archived', ...NOT_NOW],
      async handle({ body: { environment, cursor, ...filter } }) {
        pressure.admit();
        await checkTarget(environment);
        const { page, next } = await findHeld(heldEvents, filter, { limit: AT_ONCE, cursor });
        // One that somebody else took meanwhile is theirs.
        const assigned = await Promise.all(page.map((held) => assign(held, environment).catch(ignoreNotFound)));
        return {
          data: { assigned: assigned.filter((one) => one !== undefined), more: next !== undefined },
          metadata: nextPage(next),
        };
      },
    }),
    route({
      method: 'delete',
      path: `${path}/:id`,
      tag,
      access: 'write',
      about,
      summary: 'Delete a held event',
      params,
      errors: ['not_found'],
      async handle({ params: { id } }) {
        if (!(await heldEvents.remove(id))) throw notFound(id);
        return {};
      },
    }),
    route({
      method: 'delete',
      path,
      tag,
      access: 'write',
      about,
      summary: 'Delete held events, by filter',
      description: `Newest first, at most ${AT_ONCE} at once. Takes a filter, or \`all=true\`.`,
      query: z.object({ ...holdingFilter, ...allOfThem, ...goOn }),
      data: z.object({ deleted: z.int(), more: moreSchema }),
      errors: [],
      async handle({ query: { cursor, all, ...filter } }) {
        demandFilter(filter, all);
        const { page, next } = await findHeld(heldEvents, filter, { limit: AT_ONCE, cursor });
        const deleted = await Promise.all(page.map(({ internalId }) => heldEvents.remove(internalId)));
        return {
          data: { deleted: deleted.filter(Boolean).length, more: next !== undefined },
          metadata: nextPage(next),
        };
      },
    }),
  ];
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
  return undefined;
}

/** A filter that was left out by mistake must not delete everything.
 *  @throws ServiceError input_invalid */
function demandFilter(filter: object, all: 'true' | undefined): void {
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  if (isFiltered !== (all === 'true')) return;
  throw new ServiceError('input_invalid', {
    detail: isFiltered
      ? 'query parameter "all": it takes no filter beside it; leave one of them out'
      : 'there is no filter; name one, or send all=true to delete every held event',
    facts: { field: 'all' },
  });
}

function notFound(id: string, why = ''): ServiceError {
  return new ServiceError('not_found', { detail: `the holding page has no event "${id}"${why}` });
}

function positionOf({ receivedAt, internalId }: HeldEvent): Position {
  return { at: receivedAt, id: internalId };
}

function present({ internalId, webhookId, selection, reason, event, receivedAt, requestId }: HeldEvent) {
  return {
    internal_id: internalId,
    webhook_id: webhookId,
    selection: selection ?? null,
    reason,
    event,
    received_at: time(receivedAt),
    request_id: requestId,
  };
}
