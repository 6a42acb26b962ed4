import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { pageOf } from './examples.ts';

/** Below the forms and above the events of these tests. */
const MAX_BYTES = 4_000;
const MANY_FIELDS = Array.from({ length: 1_001 }, () => 'a').join('&');
const HERE = '127.0.0.1';

interface Sent {
  method: string;
  url: string;
  query: string;
  headers: Record<string, string>;
  body: string;
}

/** One fault of a request, and the error code that it leads to. */
interface Fault {
  code: string;
  apply(sent: Sent): void;
  /** Fixes a fault that is in the settings of the service and not in the request. */
  fix?(): Promise<unknown>;
}

describe('The request life cycle in docs/', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, env: { EVENT_MAX_BYTES: String(MAX_BYTES) } });
  });
  after(() => service?.stop());

  const api = async (method: string, path: string, body: object = {}) => {
    const response = await service.request(method, `/v1${path}`, body, service.apiHeaders);
    expect(response.status, JSON.stringify(response.body)).to.be.within(200, 299);
    return response.body.data;
  };

  /** Sends a request with all faults, then without the first, and so on: each response is the error of the first that is left. */
  async function expectFirstFaultToWin(valid: Sent, faults: readonly Fault[]): Promise<void> {
    for (const [i, { code, fix }] of faults.entries()) {
      const sent: Sent = { ...valid, headers: { ...valid.headers } };
      // Where two change the same part of the request, the first overwrites the other.
      for (const fault of faults.slice(i).reverse()) fault.apply(sent);
      const { status, body } = await send(sent);
      expect(body.code, `${status} ${JSON.stringify(body)}`).to.equal(code);
      await fix?.();
    }
  }

  const send = ({ method, url, query, headers, body }: Sent) => request(method, url + query, { headers, body });

  /** The codes in the diagram of a page, in its order. */
  function diagramCodes(page: string): string[] {
    const [, diagram = ''] = pageOf(page).split('## Request life cycle');
    return [...diagram.matchAll(/▶ \d{3} (\w+)/g)].map(([, code]) => code as string);
  }

  function expectInOrder(page: string, faults: readonly Fault[]): void {
    let rest = diagramCodes(page);
    for (const { code } of faults) {
      expect(rest, `${page}: ${code} comes after those before it`).to.include(code);
      rest = rest.slice(rest.indexOf(code) + 1);
    }
  }

  const changeHeader = (name: string, value: string) => (sent: Sent) => {
    sent.headers[name] = value;
  };
  const routingFaults: Fault[] = [
    { code: 'too_many_fields', apply: (sent) => Object.assign(sent, { query: `?${MANY_FIELDS}` }) },
    { code: 'method_not_allowed', apply: (sent) => Object.assign(sent, { method: 'PUT' }) },
    { code: 'key_unknown', apply: (sent) => Object.assign(sent, { url: `${service.url}/e/unknown-key` }) },
  ];
  const bodyFaults: Fault[] = [
    { code: 'content_encoding_unsupported', apply: changeHeader('content-encoding', 'gzip') },
    { code: 'body_too_large', apply: (sent) => Object.assign(sent, { body: sent.body.padEnd(MAX_BYTES + 1) }) },
  ];

  it('checks a request with an event key in the order of docs/events.md', async () => {
    const event_names = { mode: 'allow', items: ['ok/*'] };
    const keyFor = async (mode: string) => {
      const ip_addresses = { mode, items: [HERE] };
      return (await api('POST', '/event-keys', { name: mode, event_names, ip_addresses })).secret;
    };
    const [allowed, denied] = [await keyFor('allow'), await keyFor('deny')];
    const valid: Sent = {
      method: 'POST',
      url: `${service.url}/e/${allowed}`,
      query: '',
      headers: { 'content-type': 'application/json' },
      body: '[{"name":"ok/a","data":{}},{"name":"ok/b","data":{}}]',
    };
    const replace = (text: string, by: string) => (sent: Sent) => {
      sent.body = sent.body.replace(text, by);
    };
    const faults: Fault[] = [
      ...routingFaults,
      { code: 'ip_refused', apply: (sent) => Object.assign(sent, { url: `${service.url}/e/${denied}` }) },
      { code: 'environment_mismatch', apply: changeHeader('x-service-env', 'elsewhere') },
      ...bodyFaults,
      { code: 'body_not_json', apply: replace(']', ',]') },
      { code: 'event_invalid', apply: replace('"name":"ok/b","data":{}', '"name":"ok/b","data":7') },
      { code: 'event_refused', apply: replace('ok/a', 'no/a') },
      { code: 'seed_invalid', apply: changeHeader('x-service-event-id-seed', 'none') },
    ];
    expectInOrder('events.md', faults);
    await expectFirstFaultToWin(valid, faults);
    const { status, body } = await send(valid);
    expect([status, body.ids.length]).to.deep.equal([200, 2]);
  });

  it('checks a webhook request in the order of docs/webhooks.md, and logs the outcomes of that page', async () => {
    await api('POST', '/environments', { name: 'shop' });
    const { id, url } = await api('POST', '/webhooks', {
      name: 'all',
      environment: 'shop',
      transform:
        'const transform = ({ name }) => { if (name === "throw") throw new Error(name); return name && { name, data: {} }; }',
      provider: 'api-key',
      verification: { scheme: 'token', token: { at: 'header:x-token' } },
      secrets: ['s3cret'],
      filter: 'body.costly == null || body.costly.all(a, body.costly.all(b, a + b == 2))',
      event_names: { mode: 'deny', items: ['no/*'] },
      ip_addresses: { mode: 'deny', items: [HERE] },
    });
    const webhook = `/webhooks/${id}`;
    await api('POST', `${webhook}/pause`);
    await api('POST', '/environments/shop/archive');
    const named = (name: string | null): Sent => ({
      method: 'POST',
      url,
      query: '',
      headers: { 'content-type': 'application/json', 'x-token': 's3cret' },
      body: JSON.stringify({ name }),
    });
    const form = (sent: Sent) => {
      sent.headers['content-type'] = 'application/x-www-form-urlencoded';
      sent.body = MANY_FIELDS;
    };
    const costly = JSON.stringify({ name: 'ok/a', costly: Array.from({ length: 1_000 }, () => 1) });
    const unknown = { method: 'POST', url: `${service.url}/e/unknown-key` };
    const routing = [
      ...routingFaults.slice(0, 2),
      { code: 'key_unknown', apply: (sent: Sent) => Object.assign(sent, unknown) },
    ];
    const faults: Fault[] = [
      ...routing,
      ...bodyFaults,
      { code: 'ip_refused', apply: () => {}, fix: () => api('PUT', webhook, { ip_addresses: null }) },
      // The other one of this code is of a key that is of no webhook.
      { code: 'method_not_allowed', apply: (sent) => Object.assign(sent, { method: 'PUT' }) },
      { code: 'webhook_paused', apply: () => {}, fix: () => api('POST', `${webhook}/resume`) },
      { code: 'verification_failed', apply: changeHeader('x-token', 'wrong') },
      { code: 'environment_archived', apply: () => {}, fix: () => api('POST', '/environments/shop/unarchive') },
      { code: 'too_many_fields', apply: form },
      { code: 'filter_failed', apply: (sent) => Object.assign(sent, { body: costly }) },
      { code: 'transform_failed', apply: (sent) => Object.assign(sent, { body: named('throw').body }) },
    ];
    expectInOrder('webhooks.md', faults);
    await expectFirstFaultToWin(named('ok/a'), faults);
    const outcomes = [named(null), named('no/a'), { ...named('ok/a'), query: '?x-service-env=nowhere' }, named('ok/a')];
    for (const sent of outcomes) expect((await send(sent)).status).to.equal(200);

    const logged = ['ignored', 'filtered', 'held', 'accepted'];
    const rejected = faults.slice(routing.length).map(({ code }) => code);
    await until(
      async () => {
        const { body } = await service.get(`/v1${webhook}/requests`);
        const lines = body.data
          .map(({ outcome, reason }: Record<string, string>) => (outcome === 'rejected' ? reason : outcome))
          .reverse();
        return JSON.stringify(lines) === JSON.stringify([...rejected, ...logged]);
      },
      { describe: () => 'the log has every request whose body was read' },
    );
  });
});
