/** The target: a service in production mode with a resource of every kind. Resources that a case deletes or locks are created again. */
import { addUser, cookieOf, signIn } from '../test/support/auth.ts';
import { request } from '../test/support/http.ts';
import { type Scrape, scrape } from '../test/support/scrape.ts';
import { SECRETS, type Service, startService } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import { fillArchive } from './archive.ts';
import type { Caller } from './callers.ts';
import type { Names } from './case.ts';
import { callersOf } from './created-callers.ts';
import { type Host, startHost } from './host.ts';
import { createOwned } from './owned-objects.ts';
import { attackedWebhooks, SECRET_MARK } from './providers.ts';

/** The transforms of the webhooks, by kind. */
const TRANSFORMS = {
  json: 'function transform(evt) { return { name: "fuzz/hook", data: evt.data || {} }; }',
  everything:
    'function transform(evt, headers, queryParams, raw) { return { name: "fuzz/" + (headers["X-Kind"] || "hook"), data: { evt, headers, queryParams, raw } }; }',
  given: 'function transform(evt) { return evt; }',
  throwing: 'function transform(evt) { throw new Error(evt.message || "no"); }',
} as const;

/** The same V8 options as in scripts/start: without them the heap grows freely, and growth means nothing. */
const HEAP = {
  web: ['--max-semi-space-size=16', '--heap-growing-percent=40'],
  worker: ['--max-semi-space-size=16', '--heap-growing-percent=80'],
};
const EMAIL = 'fuzz@example.com';
const FUNCTIONS = [
  { id: 'answers', triggers: [{ event: 'fuzz/answer' }], retries: 1 },
  { id: 'any', triggers: [{ event: 'fuzz/*' }], retries: 0 },
  {
    id: 'paid',
    triggers: [{ event: 'order/paid', expression: 'event.data.total > 10 && event.data.name.startsWith("a")' }],
    cancel: [{ event: 'fuzz/cancel', if: 'async.data.id == event.data.id' }],
    retries: 0,
  },
];

export interface Targets {
  service: Service;
  names: Names;
  host: Host;
  document: OpenApiDocument;
  /** Creates the caller, if there is none yet: then `names` has the credentials. */
  introduce(caller: Caller): Promise<void>;
  /** Creates missing resources again. */
  refresh(): Promise<void>;
  /** Cancels bulk actions and replays that cases began: they would make runs for hours. */
  cancelBulkWork(): Promise<void>;
  /** The Prometheus metrics of web and worker. */
  scrapes(): Promise<{ web: Scrape; worker: Scrape }>;
  /** @throws Error when a new event gets no finished run in time, or a process exited */
  proveAlive(): Promise<void>;
  stop(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON, looked at where it is used
export type OpenApiDocument = { paths: Record<string, Record<string, any>>; components?: { schemas?: object } };

export async function startTargets(): Promise<Targets> {
  const host = await startHost();
  const service = await startService({
    dev: false,
    archive: true,
    execArgv: HEAP,
    // Failing functions retry fast, so that runs do not pile up.
    env: { METRICS_PORT: '0', RETRY_SCALE: '0.0005', RUN_CONCURRENCY: '20', CALL_TIMEOUT_SECONDS: '5' },
  }).catch(async (error) => {
    await host.close();
    throw error;
  });
  const names: Record<string, string> = {
    host: new URL(service.url).host,
    'api-key': SECRETS.API_KEY,
    get now() {
      return new Date().toISOString();
    },
  };
  Object.assign(names, await fillArchive(service));
  const document = (await service.get('/openapi.json')).body as OpenApiDocument;
  const probe = livenessCheck(service, host);

  async function refresh(): Promise<void> {
    await createResources(service, host, names);
    await createOwned(service, names);
  }

  await refresh();
  const [web, worker] = [service.webs[0], service.workers[0]];
  return {
    service,
    names,
    host,
    document,
    introduce: callersOf(service, names),
    refresh,
    cancelBulkWork: () => cancelBulkWork(service),
    scrapes: async () => ({
      web: await scrape(`http://127.0.0.1:${web?.metricsPort}`),
      worker: await scrape(`http://127.0.0.1:${worker?.metricsPort}`),
    }),
    proveAlive: probe,
    async stop() {
      await service.stop();
      await host.close();
    },
  };
}

async function createResources(service: Service, host: Host, names: Record<string, string>): Promise<void> {
  const api = async (method: string, path: string, body?: object) =>
    (await service.request(method, path, body, service.apiHeaders)).body.data;
  const isThere = async (path: string, id?: string) =>
    id !== undefined && (await service.get(`${path}/${id}`)).status === 200;
  await api('PATCH', '/v1/account/limits', { event_max_bytes: null });
  await api('POST', '/v1/environments', { name: 'fuzz-branch', kind: 'branch' });
  await api('POST', '/v1/environments/fuzz-branch/unarchive');
  names.environment = 'fuzz-branch';
  for (const [kind, transform] of Object.entries(TRANSFORMS)) {
    const name = `hook:${kind}`;
    if (names[name]) continue;
    names[name] = keyOf(await api('POST', '/v1/webhooks', { name: kind, transform }));
  }
  names['hook:branches'] ??= keyOf(
    await api('POST', '/v1/webhooks', { name: 'branches', environment: 'branches', transform: TRANSFORMS.json }),
  );
  for (const [kind, input] of attackedWebhooks()) {
    if (names[`hook:p:${kind}`]) continue;
    const webhook = await api('POST', '/v1/webhooks', input);
    if (!webhook) throw new Error(`The webhook ${kind} was rejected`);
    names[`hook:p:${kind}`] = keyOf(webhook);
    names[`hook-id:${kind}`] = webhook.id;
  }
  // Cases may change, pause, rotate and delete these.
  if (!(await isThere('/v1/webhooks', names.webhook))) {
    const webhook = await api('POST', '/v1/webhooks', { name: 'to be attacked', transform: TRANSFORMS.everything });
    names.webhook = webhook.id;
    names['hook:attacked'] = keyOf(webhook);
    await service.post(`/e/${names['hook:attacked']}`, { message: 'logged' });
    const replays = `/v1/webhooks/${webhook.id}/replays`;
    names['webhook-replay'] = (await api('POST', replays, { dry_run: false }))?.replay?.id ?? '';
    names['webhook-request'] = (await api('GET', `/v1/webhooks/${webhook.id}/requests`))?.[0]?.id ?? '';
  }
  if (!(await isThere('/v1/webhooks', names['webhook-signed']))) names['webhook-signed'] = await signedWebhook(api);
  const { secrets } = await api('GET', `/v1/webhooks/${names['webhook-signed']}`);
  names['webhook-secret'] = secrets?.[0]?.id ?? 'none';
  names['webhook-issue'] = (await api('GET', '/v1/webhook-issues?limit=1'))?.[0]?.id ?? 'none';
  await api('POST', `/v1/webhooks/${names.webhook}/resume`);
  // Gets the same hostile responses as functions.
  names.destination = 'attacked';
  if (!(await isThere('/v1/destinations', names.destination))) {
    const destination = { name: names.destination, url: host.url, events: ['fuzz/*'], body: 'data', retries: 0 };
    await api('POST', '/v1/destinations', destination);
  }
  await api('POST', `/v1/destinations/${names.destination}/resume`, {});
  if (!(await isThere('/v1/event-keys', names['event-key-id']))) {
    const key = await api('POST', '/v1/event-keys', { name: 'to be attacked', environment: 'production' });
    names['event-key-id'] = key.id;
    names['attacked-key'] = key.secret;
  }
  names['event-key'] = SECRETS.EVENT_KEYS;
  names['api-key-id'] ??= (await api('POST', '/v1/api-keys', { name: 'to be attacked', access: 'read' })).id;
  await register(service, host);
  names.app = 'fuzz';
  names.function = 'fuzz-any';
  names['app-url'] = host.url;
  names['app-proof'] = service.appHeaders.authorization ?? '';
  const [event] = (await service.post(service.eventPath, { name: 'fuzz/seen', data: { n: 1 } })).body.ids ?? [];
  names.event = event ?? names.event ?? '';
  names.run = await runOf(service, names.event as string);
  names.replay ??= await replayOf(api);
  await createWork(api, service, names);
  names.user ??= await addUser(service, EMAIL, 'member');
  const cookie = cookieOf(await signIn(service, EMAIL)).cookie ?? '';
  if (cookie.includes('=')) names.session = cookie;
}

/** Bulk actions, an error group, a saved view and a held event. */
async function createWork(
  // biome-ignore lint/suspicious/noExplicitAny: data of any route
  api: (method: string, path: string, body?: object) => Promise<any>,
  service: Service,
  names: Record<string, string>,
): Promise<void> {
  const bulk = { action: 'retry', filter: { run_ids: [names.run] } };
  names['bulk-action'] = (await api('POST', '/v1/runs/bulk', bulk))?.id ?? names['bulk-action'] ?? 'none';
  const slow = { action: 'retry', filter: { function_id: 'fuzz-*' }, rate: 1 };
  const { id = names['paused-bulk-action'] ?? 'none' } = (await api('POST', '/v1/runs/bulk', slow)) ?? {};
  await api('POST', `/v1/runs/bulk/${id}/pause`);
  names['paused-bulk-action'] = id;
  names.fingerprint = (await api('GET', '/v1/errors?limit=1'))?.[0]?.fingerprint ?? 'none';
  const view = { list: 'runs', name: 'to be attacked', query: 'status=failed' };
  names.view = (await api('POST', '/v1/views', view))?.id ?? names.view ?? 'none';
  await service.post(`/e/${names['hook:branches']}`, { message: 'held' });
  names['held-event'] = (await api('GET', '/v1/holding?limit=1'))?.[0]?.id ?? 'none';
}

async function cancelBulkWork(service: Service): Promise<void> {
  for (const path of ['/v1/runs/bulk', '/v1/replays']) {
    const { body } = await service.get(`${path}?status=running&limit=100`, service.apiHeaders);
    for (const { id } of body.data ?? []) {
      await service.request('POST', `${path}/${id}/cancel`, undefined, service.apiHeaders);
    }
  }
}

/** With two versions. */
async function signedWebhook(
  api: (method: string, path: string, body?: object) => Promise<{ id: string }>,
): Promise<string> {
  const signature = { at: 'header:x-signature' };
  const verification = { scheme: 'hmac', algorithm: 'sha256', encoding: 'hex', signature, signed: '{body}' };
  const input = { name: 'to be attacked', provider: 'hmac', secrets: [`attacked-${SECRET_MARK}`], verification };
  const { id } = await api('POST', '/v1/webhooks', input);
  await api('PATCH', `/v1/webhooks/${id}`, { filter: 'has(body.a)', message: 'only some' });
  return id;
}

async function replayOf(
  api: (method: string, path: string, body?: object) => Promise<{ id: string }>,
): Promise<string> {
  const [received_after, received_before] = [Date.now() - 86_400_000, Date.now()].map((ms) =>
    new Date(ms).toISOString(),
  );
  const filter = { name: 'fuzz/*', search: 'has(data.total)' };
  return (await api('POST', '/v1/replays', { filter, received_after, received_before, statuses: ['none'], rate: 1 }))
    .id;
}

function keyOf(webhook: { url: string }): string {
  return new URL(webhook.url).pathname.split('/e/')[1] as string;
}

async function runOf(service: Service, event: string): Promise<string> {
  const response = await service.get(`/v1/events/${event}/runs`);
  return response.body.data?.[0]?.run_id ?? event;
}

async function register(service: Service, host: Host): Promise<void> {
  const functions = FUNCTIONS.map(({ id, retries, ...rest }) => {
    const runtime = { type: 'http', url: `${host.url}?fnId=fuzz-${id}&stepId=step` };
    const steps = { step: { id: 'step', name: 'step', runtime, retries: { attempts: retries } } };
    return { id: `fuzz-${id}`, name: id, ...rest, steps };
  });
  const headers = { 'x-service-sdk': 'fuzz:v1.0.0', ...service.appHeaders };
  const body = { url: host.url, deployType: 'ping', appName: 'fuzz', sdk: 'fuzz:v1.0.0', v: '0.1', functions };
  const response = await request('POST', `${service.url}/fn/register`, { body, headers });
  // A case may have paused one.
  for (const { id } of FUNCTIONS) await service.post(`/v1/functions/fuzz-${id}/resume`, undefined, service.apiHeaders);
  if (response.status !== 200) throw new Error(`The app could not register: ${JSON.stringify(response.body)}`);
}

function livenessCheck(service: Service, host: Host): () => Promise<void> {
  return async () => {
    for (const one of [...service.webs, ...service.workers]) {
      if (!one.running()) throw new Error(`${one.role} exited:\n${one.output().slice(-4_000)}`);
    }
    await register(service, host);
    const sent = await service.post(service.eventPath, { name: 'fuzz/alive', data: {} });
    if (sent.status !== 200) throw new Error(`An event was rejected: ${sent.status} ${JSON.stringify(sent.body)}`);
    const path = `/v1/events/${sent.body.ids[0]}/runs`;
    const finished = async () =>
      (await service.get(path)).body.data?.some((run: { status: string }) => run.status === 'Completed');
    await until(finished, { timeoutMs: 60_000, describe: 'a finished run of an event after the attack' });
  };
}
