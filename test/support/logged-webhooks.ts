/** Makes webhooks, and delivers requests to them that the tests find in the request log. */
import { expect } from 'chai';
import { request } from './http.ts';
import type { Service } from './service.ts';

export interface LoggedWebhook {
  id: string;
  url: string;
}

/** @param fields of the webhook */
export async function makeWebhook(
  service: Service,
  fields: { transform: string; name?: string },
): Promise<LoggedWebhook> {
  const { status, body } = await service.post('/v1/webhooks', { name: 'log', ...fields });
  expect(status, JSON.stringify(body)).to.equal(201);
  return body.data;
}

/** Resolves when they are in the log.
 *  @returns their IDs */
export async function deliver(service: Service, { id, url }: LoggedWebhook, bodies: object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const body of bodies) {
    const { headers } = await request('POST', url, { body: JSON.stringify(body) });
    ids.push(headers.get('x-request-id') as string);
  }
  await service.waitFor(`/v1/webhooks/${id}/requests/${ids.at(-1)}`, ({ status }) => status === 200);
  return ids;
}
