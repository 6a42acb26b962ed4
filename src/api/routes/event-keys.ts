/** `/v1/event-keys`: the secrets that senders send with (docs/events.md#event-keys). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { type EventKey, hintOf, newEventKeySecret } from '../../model/auth/event-key.ts';
import { digestOf } from '../../model/auth/secret.ts';
import { newId } from '../../model/ids.ts';
import type { EventKeys } from '../../store/auth/event-keys.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { listReply } from '../rest/list-response.ts';
import { inNames, pageOf, pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import { listFields, listsOf, presentLists, shownListFields } from '../views/list-fields.ts';
import { checkOwner, ownerSchema, presentOwner, shownOwnerSchema } from '../views/owner.ts';
import { maxBytesSchema } from './installation-limits.ts';

const nameSchema = z.string().trim().min(1).max(100).meta({ description: 'Name of your choice', example: 'Shop' });

export const eventKeySchema = z
  .object({
    id: z.string(),
    name: nameSchema,
    environment: shownOwnerSchema,
    hint: z.string().meta({ description: 'The last characters of the secret' }),
    ...shownListFields,
    max_bytes: maxBytesSchema.nullable(),
    last_used_at: z.iso.datetime().nullable().meta({ description: 'Up to a minute behind' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'EventKey' });

export const madeSchema = eventKeySchema
  .extend({
    secret: z.string().meta({ description: 'What senders send with. Shown this once; only its hash is kept' }),
  })
  .meta({ id: 'EventKeyWithSecret' });

const params = z.object({ id: z.string() });
const settableFields = { ...listFields, max_bytes: maxBytesSchema.nullish() };

export interface EventKeyRouteDeps {
  eventKeys: EventKeys;
  environments: Environments;
}

export function eventKeyRoutes({ eventKeys, environments }: EventKeyRouteDeps): Route[] {
  const tag = 'Event keys';
  const about = 'account';

  async function existing(id: string): Promise<EventKey> {
    const key = await eventKeys.read(id);
    if (!key) throw new ServiceError('not_found', { detail: `no event key has the id "${id}"` });
    return key;
  }

  const shown = async (key: EventKey) => present(key, (await eventKeys.lastUses()).get(key.id));

  return [
    route({
      method: 'post',
      path: '/v1/event-keys',
      tag,
      access: 'admin',
      about,
      summary: 'Make an event key',
      description: 'The secret is in this answer, and never again.',
      body: z.object({ name: nameSchema, environment: ownerSchema, ...settableFields }),
      status: 201,
      data: madeSchema,
      errors: ['environment_unknown', 'environment_archived'],
      async handle({ body: { name, environment, max_bytes, ...lists } }) {
        await checkOwner(environment, environments);
        const secret = newEventKeySecret();
        const now = Date.now();
        const key: EventKey = {
          id: newId(),
          name,
          env: environment,
          digest: digestOf(secret),
          hint: hintOf(secret),
          maxBytes: max_bytes ?? undefined,
          ...listsOf(lists),
          createdAt: now,
          updatedAt: now,
        };
        await eventKeys.save(key);
        return { data: { ...present(key), secret } };
      },
    }),
    route({
      method: 'get',
      path: '/v1/event-keys',
      tag,
      access: 'read',
      about,
      summary: 'List event keys',
      description: 'In the order of their creation, without those that the setting EVENT_KEYS gives.',
      query: z.object(pageQuery(inNames)),
      data: z.array(eventKeySchema),
      errors: [],
      async handle({ query }) {
        const [all, uses] = await Promise.all([eventKeys.all(), eventKeys.lastUses()]);
        const { page, next } = pageOf(all, ({ id }) => id, query);
        return listReply(page, { present: (key) => present(key, uses.get(key.id)), positionOf: ({ id }) => id, next });
      },
    }),
    route({
      method: 'get',
      path: '/v1/event-keys/:id',
      tag,
      access: 'read',
      about,
      summary: 'Read an event key',
      params,
      data: eventKeySchema,
      errors: ['not_found'],
      async handle({ params: { id } }) {
        return { data: await shown(await existing(id)) };
      },
    }),
    route({
      method: 'put',
      path: '/v1/event-keys/:id',
      tag,
      access: 'admin',
      about,
      summary: 'Change an event key',
      description:
        'A field that is left out stays as it is; null takes a list or limit away. The secret stays the same.',
      params,
      body: z.object({ name: nameSchema.optional(), ...settableFields }),
      data: eventKeySchema,
      errors: ['not_found'],
      async handle({ params: { id }, body: { name, max_bytes, ...lists } }) {
        const before = await existing(id);
        const maxBytes = max_bytes === undefined ? before.maxBytes : (max_bytes ?? undefined);
        const key = {
          ...before,
          name: name ?? before.name,
          maxBytes,
          ...listsOf(lists, before),
          updatedAt: Date.now(),
        };
        await eventKeys.save(key);
        return { data: await shown(key) };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/event-keys/:id',
      tag,
      access: 'admin',
      about,
      summary: 'Revoke an event key',
      description: 'Whoever sends with it is answered 401 from then on.',
      params,
      errors: ['not_found'],
      async handle({ params: { id } }) {
        await eventKeys.remove(await existing(id));
        return {};
      },
    }),
  ];
}

function present(key: EventKey, usedAt?: number) {
  const { id, name, env, hint, maxBytes, createdAt, updatedAt } = key;
  return {
    id,
    name,
    environment: presentOwner(env),
    hint,
    ...presentLists(key),
    max_bytes: maxBytes ?? null,
    last_used_at: usedAt === undefined ? null : new Date(usedAt).toISOString(),
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}
