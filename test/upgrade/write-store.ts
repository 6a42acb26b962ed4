/** Writes the store that the present commit leaves when all its processes are killed in the middle of their work:
 *  node test/upgrade/write-store.ts <name>
 *  upgrade.test.ts then holds every later commit to it. Write one before each change of what Redis has. */
import { createHmac } from 'node:crypto';
import { startAppHost } from '../support/app-host.ts';
import { startOwnRedis } from '../support/own-redis.ts';
import { connectRedis } from '../support/redis.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { writeStore } from './store-file.ts';
import { APP, addHandlers, FUNCTIONS, LOGGED, SETTINGS, VIEW, WEBHOOK_SECRET } from './unfinished-work.ts';

const [name] = process.argv.slice(2);
if (!name) throw new Error('Usage: node test/upgrade/write-store.ts <name>');

const own = await startOwnRedis();
const host = await startAppHost();
const service = await startService({ processes: true, dev: false, env: { ...SETTINGS, REDIS_URL: own.url } });
try {
  addHandlers(host, true);
  const registered = await host.register(service, FUNCTIONS, { appName: APP });
  if (registered.status !== 200) throw new Error(JSON.stringify(registered.body));
  const send = async (event: string, events: object[]) => {
    const response = await service.post(
      service.eventPath,
      events.map((data) => ({ name: `upgrade/${event}`, data })),
    );
    if (response.status !== 200) throw new Error(JSON.stringify(response.body));
    return response.body.ids as string[];
  };
  const statusIs = (runs: string, status: string) =>
    service.waitFor(`/v1/events/${runs}/runs`, ({ body }) => body.data?.[0]?.status === status, 60_000);
  const [completed] = await send('completed', [{ n: 1 }]);
  const [failed] = await send('failed', [{ n: 1 }]);
  await Promise.all([statusIs(completed as string, 'Completed'), statusIs(failed as string, 'Failed')]);
  await service.post(service.eventPath, { id: 'once', name: 'upgrade/completed', data: { n: 2 } });

  const webhook = await service.post(
    '/v1/webhooks',
    { name: 'Stripe', provider: 'stripe', secrets: [WEBHOOK_SECRET] },
    service.apiHeaders,
  );
  if (webhook.status !== 201) throw new Error(JSON.stringify(webhook.body));
  const body = JSON.stringify({ id: 'evt_stored', object: 'event', type: 'invoice.paid', data: { object: {} } });
  const at = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(`${at}.${body}`).digest('hex');
  const path = new URL(webhook.body.data.url).pathname;
  const received = await service.post(path, Buffer.from(body), {
    'content-type': 'application/json',
    'stripe-signature': `t=${at},v1=${signature}`,
  });
  if (received.status !== 200) throw new Error(JSON.stringify(received.body));
  await host.nextCall('paid');

  await send('sleeping', [{ n: 1 }]);
  await send('waiting', [{ n: 1, customer: 'c1' }]);
  await send('retrying', [{ n: 1 }]);
  await send('limited', [{ customer: 'c1' }, { customer: 'c1' }, { customer: 'c1' }]);
  await send('batched', [{ n: 1 }, { n: 2 }]);
  await send('debounced', [{ n: 1 }]);
  await send('debounced', [{ n: 2 }]);
  await host.nextCall('limited');
  const active = async () => {
    const { body } = await service.get('/v1/runs?status=Running,Queued&limit=100');
    const isAsleep = host.calls('sleeping').length === 2 && host.calls('waiting').length === 1;
    return isAsleep && host.calls('retrying').length === 1 && (body.data?.length ?? 0) >= 6;
  };
  await until(active, { describe: 'all runs are where they are to be', timeoutMs: 60_000 });
  await send('rerun', [{ n: 1 }]);
  const [rerun] = (
    await service.waitFor(`/v1/runs?function_id=${APP}-rerun&status=Completed`, ({ body }) => body.data?.length === 1)
  ).body.data;
  const post = async (path: string, posted: object, headers = service.apiHeaders) => {
    const response = await service.post(path, posted, headers);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
  };
  await post('/v1/views', { list: 'runs', name: VIEW, query: 'status=Failed' });
  const line = { at: Date.now(), level: 'info', message: LOGGED };
  const sdk = { ...service.appHeaders, 'x-service-sdk': 'upgrade:v1' };
  await post(`/v0/runs/${rerun.run_id}/logs`, { batch: 'one', attempt: 0, lines: [line] }, sdk);
  await post(`/v1/functions/${APP}-held/pause`, { queued_runs: 'hold' });
  for (const n of [1, 2]) await post(`/v1/functions/${APP}-held/invoke`, { data: { n } });
  await service.killWorker();
  await post('/v1/runs/bulk', { action: 'retry', filter: { run_ids: [rerun.run_id] } });
  await send('queued', [{ n: 1 }]);
  await service.killWeb();
  const redis = connectRedis(own.url);
  await writeStore(redis, name);
  redis.disconnect();
} finally {
  await service.stop().catch(() => {});
  await host.close();
  await own.remove();
}
