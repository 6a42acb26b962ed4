/** `/v1/event-keys`: the secrets with which senders post events. */
import { z } from 'zod';
import { orNotFound } from '../../errors.ts';
import { type EventKey, hintOf, newEventKeySecret } from '../../model/auth/event-key.ts';
import { digestOf } from '../../model/auth/secret.ts';
import { newId } from '../../model/ids.ts';
import { apiObject, timeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { namePosition, pageQuery, sortedReply } from '../rest/lists.ts';
import { ownerInBody, ownerOfEventKey, visible } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { listFields, listsOf, presentLists, shownListFields } from '../views/list-fields.ts';
import { checkOwner, ownerNameSchema, ownerSchema, presentOwner } from '../views/owner.ts';
import { present } from '../views/present.ts';
import { maxBytesSchema } from './installation-limits.ts';

const nameSchema = z.string().trim().min(1).max(100).meta({ description: 'Name of your choice', example: 'Shop' });

export const eventKeySchema = apiObject('EventKey', {
  id: z.string(),
  name: nameSchema,
  environment: ownerNameSchema,
  hint: z.string().describe('The last characters of the secret'),
  ...shownListFields,
  max_bytes: maxBytesSchema.nullable(),
  last_used_at: timeOrNull.describe('May lag by up to a minute'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const createdEventKeySchema = eventKeySchema
  .extend({
    secret: z.string().describe('The key in the URL of the sender. Shown only once; the service stores its hash'),
  })
  .meta({ id: 'EventKeyWithSecret' });

const settableFields = { ...listFields, max_bytes: maxBytesSchema.nullish() };

export function eventKeyRoutes({ eventKeys, environments }: ApiParts): Route[] {
  const routes = routesOf({ tag: 'Event keys', scope: 'owner', owner: ownerOfEventKey(eventKeys) });

  async function existing(id: string): Promise<EventKey> {
    return orNotFound(await eventKeys.read(id), 'event key', id);
  }

  const withLastUse = async (key: EventKey) => presentKey(key, (await eventKeys.lastUses()).get(key.id));

  return [
    routes.post('/v1/event-keys', {
      owner: ownerInBody,
      access: 'admin',
      operationId: 'createEventKey',
      summary: 'Create an event key',
      description: 'Only this response contains the secret.',
      body: z.object({ name: nameSchema, environment: ownerSchema, ...settableFields }),
      status: 201,
      data: createdEventKeySchema,
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
        return { data: { ...presentKey(key), secret } };
      },
    }),
    routes.get('/v1/event-keys', {
      owner: 'each',
      operationId: 'listEventKeys',
      summary: 'List event keys',
      description: 'In order of creation. The keys of the setting EVENT_KEYS are not included.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(eventKeySchema),
      async handle({ query, accessTo }) {
        const [all, uses] = await Promise.all([eventKeys.all(), eventKeys.lastUses()]);
        return sortedReply(visible(all, accessTo), 'id', query, (key) => presentKey(key, uses.get(key.id)));
      },
    }),
    routes.get('/v1/event-keys/:id', {
      operationId: 'getEventKey',
      summary: 'Get an event key',
      data: eventKeySchema,
      async handle({ params: { id } }) {
        return { data: await withLastUse(await existing(id)) };
      },
    }),
    routes.patch('/v1/event-keys/:id', {
      formerMethod: 'put',
      access: 'admin',
      operationId: 'updateEventKey',
      summary: 'Update an event key',
      description: 'Omitted fields stay unchanged; null removes a list or limit. The secret stays the same.',
      body: z.object({ name: nameSchema.optional(), ...settableFields }),
      data: eventKeySchema,
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
        return { data: await withLastUse(key) };
      },
    }),
    routes.delete('/v1/event-keys/:id', {
      access: 'admin',
      operationId: 'revokeEventKey',
      summary: 'Revoke an event key',
      description: 'From then on, requests with the key are rejected with 401.',
      async handle({ params: { id } }) {
        await eventKeys.remove(await existing(id));
        return {};
      },
    }),
  ];
}

function presentKey(key: EventKey, lastUsedAt?: number) {
  return present(eventKeySchema, { ...key, lastUsedAt }, { environment: presentOwner(key.env), ...presentLists(key) });
}
