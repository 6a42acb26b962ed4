/** Creates one of each resource, for tests that open every page. */
import type { AppHost } from '../support/app-host.ts';
import type { Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import type { Fixtures } from './pages.ts';

const APP = 'shop';
const FUNCTIONS = [
  { id: 'confirm', triggers: [{ event: 'order/placed' }] },
  { id: 'charge', triggers: [{ event: 'order/placed', expression: 'event.data.total > 10' }], retries: 1 },
  { id: 'refuse', triggers: [{ event: 'order/placed' }], retries: 0 },
  { id: 'remind', triggers: [{ event: 'order/placed' }] },
  { id: 'approve', triggers: [{ event: 'order/placed', expression: 'event.data.total > 1000' }] },
];
const TRANSFORM = `function transform(evt, headers) {
  console.log('order', evt.number);
  if (!evt.number) throw new Error('this is no order');
  return { name: 'order/placed', id: \`order-\${evt.number}\`, data: evt };
}`;
const STACK = 'DeclinedError: the card was declined\n    at charge (/app/src/charge.ts:12:9)';

export async function createFixtures(service: Service, host: AppHost): Promise<Fixtures> {
  await registerShop(service, host);
  const webhook = await make(service, '/v1/webhooks', { name: 'Shop orders', transform: TRANSFORM });
  const requestId = await deliver(service, webhook.url, { number: 7, total: 12 });
  const rejectedRequestId = await deliver(service, webhook.url, { broken: true });
  const eventId = await send(service, { name: 'order/placed', id: 'order-1', data: { number: 1, total: 99.5 } });
  // The second event is a duplicate only once the first is stored.
  await service.stored(eventId);
  await send(service, { name: 'order/placed', id: 'order-1', data: { number: 1 } });
  await send(service, { name: 'order/shipped', data: { number: 1 }, user: { id: 'u-1' }, v: '2' });
  await hold(service);
  await make(service, '/v1/environments', { name: 'feature', kind: 'branch' });
  await make(service, '/v1/event-keys', { name: 'Shop' });
  const url = 'http://127.0.0.1:9/crm';
  await make(service, '/v1/destinations', { name: 'crm', url, webhook: webhook.id, body: 'request', filter: 'false' });
  await make(service, '/v1/api-keys', { name: 'Deploy script', access: 'write' });
  await make(service, '/v1/users', { email: 'grace@example.com', role: 'member' });
  const webhookRequest = await service.waitFor(
    `/v1/webhooks/${webhook.id}/requests/${requestId}`,
    ({ status }) => status === 200,
  );
  return {
    eventId,
    webhookEventId: webhookRequest.body.data.ids[0],
    runId: await runOf(service, eventId, `${APP}-confirm`, 'Completed'),
    waitingRunId: await runOf(service, eventId, `${APP}-charge`, 'Running'),
    sleepingRunId: await runOf(service, eventId, `${APP}-remind`, 'Running'),
    failedRunId: await runOf(service, eventId, `${APP}-refuse`, 'Failed'),
    fingerprint: await fingerprintOf(service, `${APP}-refuse`),
    replayId: await replay(service),
    whatIfId: await whatIf(service, host),
    functionId: `${APP}-confirm`,
    destinationId: 'destination:crm',
    appName: APP,
    webhookId: webhook.id,
    requestId,
    rejectedRequestId,
  };
}

/** Registers functions that succeed, retry, fail permanently and sleep. */
async function registerShop(service: Service, host: AppHost): Promise<void> {
  const error = { name: 'DeclinedError', message: 'the card was declined', stack: STACK };
  host.on('confirm', () => ({ body: { sent: true } }));
  host.on('charge', () => ({ status: 500, body: error }));
  host.on('refuse', () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: error }));
  host.on('remind', () => ({
    status: 206,
    body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h', displayName: 'a while', opts: { duration: '1h' } }],
  }));
  await host.register(service, FUNCTIONS, { appName: APP });
}

/** The fingerprint of the error group of the function's runs. */
async function fingerprintOf(service: Service, functionId: string): Promise<string> {
  const path = `/v1/errors?function_id=${functionId}`;
  const { body } = await service.waitFor(path, (response) => response.body.data?.length > 0);
  return body.data[0].fingerprint;
}

/** Creates a held event. */
async function hold(service: Service): Promise<void> {
  const fields = { name: 'Branch orders', environment: 'branches', transform: TRANSFORM };
  const { url } = await make(service, '/v1/webhooks', fields);
  await deliver(service, url, { number: 8 });
}

/** Creates a replay, once it is done. @returns its ID */
async function replay(service: Service): Promise<string> {
  const fields = {
    name: 'Orders again',
    filter: { name: 'order/*' },
    functions: [`${APP}-confirm`],
    statuses: ['Completed'],
    received_after: new Date(Date.now() - 3_600_000).toISOString(),
    received_before: new Date().toISOString(),
  };
  const { id } = await make(service, '/v1/replays', fields);
  await service.waitFor(`/v1/replays/${id}`, ({ body }) => body.data?.status === 'done');
  return id;
}

/** Asks the app itself, and waits for the end. @returns its ID */
async function whatIf(service: Service, host: AppHost): Promise<string> {
  const { id } = await make(service, '/v1/what-ifs', { url: host.url, app: APP, last: '1h' });
  await service.waitFor(`/v1/what-ifs/${id}`, ({ body }) => body.data?.status === 'done');
  return id;
}

/** @param event one event or an array
 *  @returns the ID of the first */
export async function send(service: Service, event: object): Promise<string> {
  const { body } = await service.post(service.eventPath, event);
  return body.ids[0];
}

/** @returns the created resource
 *  @throws Error when the service creates none */
export async function make(service: Service, path: string, fields: object): Promise<Created> {
  const { status, body } = await service.post(path, fields, service.apiHeaders);
  if (status !== 201) throw new Error(`POST ${path} returned ${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** @returns the request's ID */
async function deliver(service: Service, url: string, body: object): Promise<string> {
  const { headers } = await service.post(new URL(url).pathname, body);
  return headers.get('x-request-id') ?? '';
}

/** Waits for a run of the function on the event with this status. */
export async function runOf(service: Service, eventId: string, functionId: string, status: string): Promise<string> {
  const found = async () => {
    const { body } = await service.get(`/v1/runs?event_id=${eventId}`);
    const run = (body.data as RunView[]).find((each) => each.function_id === functionId && each.status === status);
    return run?.run_id;
  };
  return until(found, { describe: `run of ${functionId} on ${eventId} is ${status}` });
}

interface Created {
  id: string;
  /** Webhooks only. */
  url: string;
}

interface RunView {
  run_id: string;
  function_id: string;
  status: string;
}
