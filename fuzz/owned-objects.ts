/** What callers with roles ask for: an environment of each kind, and in each a webhook, an event key and an event whose contents nobody else
 *  may see. */
import type { Service } from '../test/support/service.ts';
import { ENVIRONMENTS, OWNERS_OF_KEYS } from './callers.ts';

/** In every text that belongs to the owner. */
export const markOf = (owner: string) => `only-of-${owner}-7f3a`;

/** Creates what is missing. */
export async function createOwned(service: Service, names: Record<string, string>): Promise<void> {
  const api = async (method: string, path: string, body?: object, headers = {}) =>
    (await service.request(method, path, body, { ...service.apiHeaders, ...headers })).body.data;
  for (const { name, kind } of ENVIRONMENTS) {
    if (names[`marked:${name}`]) continue;
    if (kind !== 'production') await api('POST', '/v1/environments', { name, kind });
    const event = { name: 'roles/seen', data: { mark: markOf(name) } };
    await service.request('POST', '/v1/events', event, { ...service.apiHeaders, 'x-service-env': name });
    names[`marked:${name}`] = 'yes';
  }
  for (const environment of OWNERS_OF_KEYS) {
    for (const [path, kind, more] of [
      [
        '/v1/webhooks',
        'webhook',
        { transform: 'function transform(evt) { return { name: "roles/hook", data: {} }; }' },
      ],
      ['/v1/event-keys', 'event-key', {}],
    ] as const) {
      const name = `${kind}-of:${environment}`;
      const there = names[name] && (await service.get(`${path}/${names[name]}`, service.apiHeaders)).status === 200;
      if (!there) names[name] = (await api('POST', path, { name: markOf(environment), environment, ...more })).id;
    }
  }
}
