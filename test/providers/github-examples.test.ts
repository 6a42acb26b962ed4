/** GitHub's own examples of its webhooks, from its library for JavaScript, sent as GitHub sends them. */
import { createRequire } from 'node:module';
import type { WebhookDefinition } from '@octokit/webhooks-examples';
import { sign } from '@octokit/webhooks-methods';
import { expect } from 'chai';
import { send } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const require = createRequire(import.meta.url);
const examples = require('@octokit/webhooks-examples') as WebhookDefinition[];

const SECRET = 'a secret of ours';
const AT_ONCE = 8;

const deliveries = examples.flatMap(({ name, examples: payloads }) =>
  payloads.map((payload, i) => ({
    delivery: `${name}-${i}`,
    event: name,
    body: JSON.stringify(payload),
    eventName: 'action' in payload && payload.action ? `github/${name}.${payload.action}` : `github/${name}`,
  })),
);

describe('Examples of GitHub', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('are verified, named by event and action, and counted once by their delivery ID', async () => {
    const created = await service.post('/v1/webhooks', { name: 'GitHub', provider: 'github', secrets: [SECRET] });
    const { url } = created.body.data;

    const deliver = async ({ delivery, event, body }: (typeof deliveries)[number]) => {
      const headers = {
        'content-type': 'application/json',
        'x-github-event': event,
        'x-github-delivery': delivery,
        'x-hub-signature-256': await sign(SECRET, body),
      };
      const response = await send(url, { headers, body });
      expect(response.status, `${delivery}: ${JSON.stringify(response.body)}`).to.equal(200);
      return response.body.ids as string[];
    };

    expect(deliveries.length).to.be.greaterThan(300);
    const seen = new Set<string>();
    for (let i = 0; i < deliveries.length; i += AT_ONCE) {
      const batch = deliveries.slice(i, i + AT_ONCE);
      const ids = await Promise.all(batch.map(deliver));
      const repeated = await Promise.all(batch.map(deliver));
      expect(repeated).to.deep.equal(ids);
      for (const [j, [id]] of ids.entries()) {
        const { delivery, eventName } = batch[j] as (typeof deliveries)[number];
        const event = await until(async () => (await service.get(`/v1/events/${id}`)).body.data, {
          describe: `${delivery} is stored`,
        });
        expect(event.name, delivery).to.equal(eventName);
        expect(event.verified, delivery).to.equal(true);
        seen.add(id as string);
      }
    }
    expect(seen.size).to.equal(deliveries.length);
  });
});
