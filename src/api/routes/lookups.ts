/** `POST /v1/events/lookup` and `POST /v1/runs/lookup`: which of many events or runs the service has. Relays of
 *  outboxes use them when nothing else says whether to send again, or what may be removed. So a lookup never
 *  guesses: unreadable data is an error. */
import { z } from 'zod';
import { ID_PATTERN } from '../../model/ids.ts';
import { apiObject, listUpTo } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';

const IDS_MAX = 1_000;
const ID_MAX = 64;

const bodySchema = (kind: string) =>
  z.object({
    ids: listUpTo(IDS_MAX, z.string().max(ID_MAX)).describe(`${kind}. A text that is no such ID is not found`),
  });

const foundSchema = apiObject('FoundId', { id: z.string(), found: z.boolean() });
const data = z.array(foundSchema).describe('In the order of the IDs');

export function eventLookupRoutes({ acceptedEvents }: ApiParts): Route[] {
  const routes = routesOf({ tag: 'Events', scope: 'environment', forApps: true, audited: false });
  return [
    routes.post('/v1/events/lookup', {
      operationId: 'lookUpEvents',
      summary: 'Tell which events are stored',
      description:
        'Finds every event that was accepted and is within its retention: recent or archived, and those that wait to be ingested. A duplicate of an event has the internal ID of that event.',
      body: bodySchema('Internal IDs of events'),
      data,
      errors: ['archive_unavailable', 'overloaded'],
      async handle({ env, body: { ids } }) {
        return { data: await lookUp(ids, (some) => acceptedEvents.present(env, some)) };
      },
    }),
  ];
}

export function runLookupRoutes({ runs }: ApiParts): Route[] {
  const routes = routesOf({ tag: 'Runs', scope: 'environment', forApps: true, audited: false });
  return [
    routes.post('/v1/runs/lookup', {
      operationId: 'lookUpRuns',
      summary: 'Tell which runs are stored',
      description: 'Finds every run that has not ended, and every ended one within its retention, recent or archived.',
      body: bodySchema('IDs of runs'),
      data,
      errors: ['archive_unavailable'],
      async handle({ env, body: { ids } }) {
        return { data: await lookUp(ids, (some) => runs.present(env, some)) };
      },
    }),
  ];
}

async function lookUp(ids: readonly string[], find: (ids: readonly string[]) => Promise<ReadonlySet<string>>) {
  // Only IDs may become parts of keys.
  const present = await find([...new Set(ids)].filter((id) => ID_PATTERN.test(id)));
  return ids.map((id) => ({ id, found: present.has(id) }));
}
