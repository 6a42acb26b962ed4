import { expect } from 'chai';
import { z } from 'zod';
import { openApi } from '../../src/api/openapi/document.ts';
import { HEALTH_CHECKS } from '../../src/api/openapi/public-operations.ts';
import type { Route } from '../../src/api/rest/route.ts';
import { bulkDryRunSchema } from '../../src/api/views/bulk-action.ts';
import { replayDryRunSchema } from '../../src/api/views/replay.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Headers, keyHeaders } from '../support/auth.ts';
import { ConnectedInstance } from '../support/connected-app.ts';
import { nameOf, routes } from '../support/route-table.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const FAILS = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Bad', message: 'no' } };
const STEP = { id: 'b'.repeat(40), op: 'StepRun', name: 'counts', data: { n: 7 } };
const WAITS = {
  id: 'a'.repeat(40),
  op: 'WaitForEvent',
  name: 'shop/never',
  opts: { event: 'shop/never', timeout: '1h' },
};

describe('OpenAPI document', () => {
  const document = openApi(routes);

  it('the OpenAPI document has every route, each with a described tag', () => {
    const groups = document.tags?.map(({ name }) => name) ?? [];
    for (const { method, path, tag, data, file, scope } of routes) {
      const item = document.paths?.[path.replace(/:(\w+)/g, '{$1}')];
      const operation = item?.[method];
      expect(operation, `${method} ${path}`).to.include.keys('summary', 'responses', 'security');
      expect(groups, `${method} ${path}`).to.include(tag);
      expect('204' in (operation?.responses ?? {}), `${method} ${path}`).to.equal(data === undefined && !file);
      const names = operation?.parameters?.map((item) => ('name' in item ? item.name : ''));
      expect(names?.includes('x-service-env') ?? false, `${method} ${path}`).to.equal(scope === 'environment');
    }
  });

  it('every operation has an operationId of its own: a verb and what it acts on', () => {
    const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item as Record<string, { operationId?: string }>).map(([method, { operationId }]) => ({
        name: `${method} ${path}`,
        operationId,
      })),
    );
    for (const { name, operationId } of operations) expect(operationId, name).to.match(/^[a-z]+([A-Z][a-z]+)*$/);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).to.equal(operations.length);
  });

  it('every list is paginated by `limit` and `cursor`', () => {
    const lists = routes.filter(({ method, data }) => method === 'get' && data instanceof z.ZodArray);
    const withoutPages = lists.filter(({ query }) => !query || !('limit' in query.shape && 'cursor' in query.shape));
    // A histogram has as many buckets as are asked for, and a text has a few hits of each kind.
    expect(withoutPages.map(nameOf)).to.have.members([
      'GET /v1/events/histogram',
      'GET /v1/runs/histogram',
      'GET /v1/search',
    ]);
    expect(lists).to.have.length.above(30);
  });

  it('GET /openapi.json names the URL of the service: the setting PUBLIC_URL, else that of the request', async () => {
    for (const publicUrl of [undefined, 'https://tidegate.example.com']) {
      const service = await startService({ workers: 0, ...(publicUrl && { env: { PUBLIC_URL: publicUrl } }) });
      try {
        const { body } = await service.get('/openapi.json');
        expect(body.servers).to.deep.equal([{ url: publicUrl ?? service.url }]);
      } finally {
        await service.stop();
      }
    }
  });

  it('GET /docs shows every operation with an example', async () => {
    const service = await startService({ workers: 0 });
    try {
      const page = (await service.get('/docs')).body as string;
      const operations = Object.values(document.paths ?? {}).flatMap((item) => Object.keys(item as object));
      expect(page.match(/<pre>curl /g)?.length).to.equal(operations.length);
      expect(page).to.include('<h2 id="runs">').and.include('href="#runs"');
    } finally {
      await service.stop();
    }
  });

  it('health checks return the fields of the OpenAPI document and no others', async () => {
    const service = await startService({ workers: 0 });
    try {
      for (const [path, schema] of Object.entries(HEALTH_CHECKS)) {
        schema.strict().parse((await service.get(path)).body);
      }
    } finally {
      await service.stop();
    }
  });

  describe('responses match the schemas of the OpenAPI document', () => {
    let service: Service;
    let host: AppHost;
    let elsewhere: Headers;
    const called = new Set<string>();
    before(async () => {
      service = await startService({ dev: false });
      host = await startAppHost();
      await service.post('/v1/environments', { name: 'elsewhere', kind: 'named' }, service.apiHeaders);
      elsewhere = await keyHeaders(service, 'admin', 'elsewhere');
    });
    after(async () => {
      await host.close();
      await service.stop();
    });

    /** Calls the route and checks the response. @returns its data */
    async function call(
      name: string,
      params: Record<string, string> = {},
      body?: object,
      query = '',
      of = service,
      // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
    ): Promise<any> {
      const route = routes.find((route) => nameOf(route) === name);
      if (!route) throw new Error(`there is no route ${name}`);
      called.add(name);
      const path = route.path.replace(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] as string));
      if (route.scope === 'environment') await callElsewhere(route, path + query, body);
      const response = await of.request(route.method.toUpperCase(), path + query, body, of.apiHeaders);
      const context = `${name}: ${JSON.stringify(response.body)}`;
      expect(response.status, context).to.equal(route.status ?? (route.data || route.file ? 200 : 204));
      if (route.file) return response.body;
      if (!route.data) return expect(response.body, context).to.equal('');
      expect(response.body, context).to.have.all.keys('data', 'metadata');
      const { success, data, error } = route.data.safeParse(response.body.data);
      expect(success, `${context} ${error?.message}`).to.equal(true);
      // zod drops fields that the schema does not have.
      expect(data, context).to.deep.equal(response.body.data);
      return response.body.data;
    }

    /** Nobody finds what is in this environment in another one. */
    async function callElsewhere({ method, path }: Route, target: string, body: object | undefined): Promise<void> {
      // An app may have allowed origins before it is there.
      const hasId = path.includes(':') && !path.startsWith('/v1/allowed-origins');
      if (!hasId && method !== 'get') return;
      const response = await service.request(method.toUpperCase(), target, body, elsewhere);
      const context = `${method} ${target} in another environment: ${JSON.stringify(response.body)}`;
      expect(response.status, context).to.equal(hasId ? 404 : 200);
      // Lists of hours and of known fields have entries all the same.
      if (!hasId) expect(JSON.stringify(response.body.data), context).to.not.match(/shop|searched|data\.n/);
    }

    const ended = (eventId: string, status: string) =>
      service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.status === status);

    it('responses of events, runs, functions and apps match their schemas', async () => {
      host.on('fails', () => FAILS);
      host.on('pauses', () => ({ ...FAILS, headers: {} }));
      const asks = { id: 'b'.repeat(40), op: 'WaitForSignal', opts: { signal: 'asked', timeout: '1h' } };
      host.on('asks', ({ body }) => (body.ctx.stack.current === 0 ? { status: 206, body: [asks] } : {}));
      host.on('waits', ({ body }) => ({ status: 206, body: [body.ctx.stack.current === 0 ? STEP : WAITS] }));
      const cancel = [{ event: 'shop/stop', if: 'event.data.n == async.data.n', timeout: '1h' }];
      host.on('orders', () => FAILS);
      const functions = ['works', 'fails', 'waits', 'asks', 'pauses', 'orders'].map((id) => ({
        id,
        triggers: [{ event: `shop/${id}` }],
        cancel,
        ...(id === 'pauses' && { retries: 0, onExhausted: 'pause' }),
        ...(id === 'orders' && { retries: 0, order: { key: 'event.name', onFailure: 'park' } }),
      }));
      host.offer(service, functions, { appName: 'shop' });
      await call('POST /v1/apps', {}, { url: host.url });
      const sent: Record<string, string> = {};
      for (const [id, status] of [
        ['works', 'Completed'],
        ['fails', 'Failed'],
        ['waits', 'Running'],
      ] as const) {
        const event = { name: `shop/${id}`, data: { n: 1 }, user: {}, v: '1', id, ts: Date.now() };
        const [eventId] = (await service.post(service.eventPath, event)).body.ids;
        sent[id] = eventId;
        await ended(eventId, status);
      }
      expect(await call('GET /v1/deploys', {}, undefined, '?app=shop')).to.have.length(1);
      await call('GET /v1/functions/:id/metrics', { id: 'shop-works' });
      await call('GET /v1/events', {}, undefined, '?limit=1');
      await call('GET /v1/events', {}, undefined, '?include=runs');
      await call('GET /v1/events/histogram');
      await call('GET /v1/events/names');
      await call('GET /v1/events/:id/arrival', { id: sent.works as string });
      const runs: Record<string, string> = {};
      for (const [id, eventId] of Object.entries(sent)) {
        await call('GET /v1/events/:id', { id: eventId });
        await call('GET /v1/events/:id/decisions', { id: eventId });
        await call('POST /v1/events/lookup', {}, { ids: [eventId] });
        await call('POST /v1/runs/lookup', {}, { ids: [eventId] });
        const [run] = await call('GET /v1/events/:id/runs', { id: eventId });
        runs[id] = run.run_id;
        await call('GET /v1/runs/:id', { id: run.run_id });
      }
      await call('GET /v1/runs');
      const range = { app_id: 'shop', function_id: 'works', started_before: new Date().toISOString() };
      const { id: cancellation } = await call('POST /v1/cancellations', {}, range);
      await call('GET /v1/cancellations');
      await call('DELETE /v1/cancellations/:id', { id: cancellation });
      const replay = {
        statuses: ['Failed', 'none'],
        received_after: new Date(Date.now() - 3_600_000).toISOString(),
        received_before: new Date().toISOString(),
        functions: ['shop-fails', 'shop-works'],
      };
      const dry = await service.post('/v1/replays', { ...replay, dry_run: true }, service.apiHeaders);
      const { success, data } = replayDryRunSchema.safeParse(dry.body.data);
      expect([dry.status, success]).to.deep.equal([200, true]);
      expect(data).to.deep.equal(dry.body.data);
      const { id: replayId } = await call('POST /v1/replays', {}, replay);
      await service.waitFor(`/v1/replays/${replayId}`, ({ body }) => body.data.progress.started > 0);
      await call('GET /v1/replays');
      await call('GET /v1/replays/:id', { id: replayId });
      const [failed] = await call('GET /v1/replays/:id/results', { id: replayId });
      expect(failed.outcome).to.be.oneOf(['started', 'skipped']);
      // It takes seconds: one run in each.
      const copies = Array.from({ length: 10 }, () => ({ name: 'shop/works', data: {} }));
      const { body: copied } = await service.post(service.eventPath, copies);
      for (const eventId of copied.ids) await ended(eventId, 'Completed');
      const all = { statuses: ['Completed'], functions: ['shop-works'], received_before: new Date().toISOString() };
      const { id: next } = await call('POST /v1/replays', {}, { ...replay, ...all, rate: 1 });
      await call('POST /v1/replays/:id/pause', { id: next });
      await call('POST /v1/replays/:id/resume', { id: next });
      await call('POST /v1/replays/:id/cancel', { id: next }, { cancel_runs: true });
      const [asking] = (await service.post(service.eventPath, { name: 'shop/asks', data: {} })).body.ids;
      await ended(asking, 'Running');
      const [{ run_id: askingRun }] = (await service.get(`/v1/events/${asking}/runs`)).body.data;
      await service.waitFor(`/v1/runs/${askingRun}`, ({ body }) =>
        body.data.history.some(({ status }: { status: string }) => status === 'Waiting'),
      );
      // The wait follows the step.
      await until(() => service.redis.exists(`${service.prefix}:signals:production:asked`), { describe: 'it waits' });
      await call('POST /v1/signals', {}, { signal: 'asked', data: { n: 1 } });
      const step = { id: runs.waits as string, step_id: STEP.id };
      await service.waitFor(`/v1/runs/${step.id}/steps/${step.step_id}`, ({ status }) => status === 200);
      await call('GET /v1/runs/:id/steps/:step_id', step);
      const said = { target: { run_id: step.id }, metadata: [{ kind: 'k', op: 'set', values: { n: 1 } }] };
      await call('POST /v1/runs/:id/metadata', { id: step.id }, said);
      await call('GET /v1/runs/:id/metadata', { id: step.id });
      await call('GET /v1/runs/:id/logs', { id: step.id });
      const later = { name: 'shop/works', data: {}, ts: Date.now() + 3_600_000 };
      const { internal_id } = await call('POST /v1/events', {}, later);
      const { body } = await service.waitFor(
        `/v1/events/${internal_id}/runs`,
        (response) => response.body.data?.length === 1,
      );
      const { run_id: id } = body.data[0];
      await service.waitFor(`/v1/runs/${id}`, (response) => response.body.data.next_try_at !== null);
      await call('GET /v1/runs/:id', { id });
      await call('POST /v1/runs/:id/retry-now', { id });
      await call('POST /v1/functions/:id/invoke', { id: 'shop-works' }, { data: {} });
      await call('POST /v1/events/match', {}, { name: 'works/x', data: {} });
      await call('POST /v1/events/:id/send-again', { id: sent.works as string });
      await call('POST /v1/events/send-again', {}, { ids: [sent.works] });
      await call('POST /v1/runs/:id/move', { id: runs.waits as string }, { version: null });
      await call('POST /v1/runs/:id/retry', { id: runs.fails as string });
      await call('DELETE /v1/runs/:id', { id: runs.waits as string });
      const filter = { function_id: 'shop-nothing' };
      const bulkDry = await service.post(
        '/v1/runs/bulk',
        { action: 'retry', filter, dry_run: true },
        service.apiHeaders,
      );
      expect([bulkDry.status, bulkDryRunSchema.safeParse(bulkDry.body.data).success]).to.deep.equal([200, true]);
      const { id: bulk } = await call('POST /v1/runs/bulk', {}, { action: 'cancel', filter });
      await call('GET /v1/runs/bulk');
      await call('GET /v1/runs/bulk/:id', { id: bulk });
      for (const verb of ['pause', 'resume', 'cancel']) await call(`POST /v1/runs/bulk/:id/${verb}`, { id: bulk });
      await call('GET /v1/runs/bulk/:id/results', { id: bulk });
      await call('GET /v1/runs/count');
      const [{ fingerprint }] = await call('GET /v1/errors', {}, undefined, '?function_id=shop-fails');
      await call('GET /v1/errors/:fingerprint', { fingerprint });
      await call('POST /v1/errors/:fingerprint/resolve', { fingerprint });
      await call('POST /v1/errors/:fingerprint/reopen', { fingerprint });
      await call('POST /v1/errors/:fingerprint/ignore', { fingerprint });
      await call('PATCH /v1/errors/:fingerprint', { fingerprint }, { alert_channels: null });
      await call('PATCH /v1/functions/:id', { id: 'shop-pauses' }, { on_exhausted: 'pause' });
      const { run_id: pausing } = await call('POST /v1/functions/:id/invoke', { id: 'shop-pauses' }, { data: {} });
      for (const verb of ['resume', 'fail']) {
        await service.waitFor(`/v1/runs/${pausing}`, (response) => response.body.data.state.kind === 'paused');
        await call('GET /v1/runs/:id', { id: pausing });
        await call(`POST /v1/runs/:id/${verb}`, { id: pausing });
      }
      await service.post(service.eventPath, { name: 'shop/orders', data: {} });
      for (const verb of ['retry', 'skip']) {
        // After the retry, it is listed as blocked until its run starts.
        const lanes = '/v1/functions/shop-orders/lanes?stopped=true';
        await service.waitFor(lanes, (response) => response.body.data[0]?.state === 'parked');
        const [{ id: lane }] = await call('GET /v1/functions/:id/lanes', { id: 'shop-orders' });
        await call('GET /v1/functions/:id/lanes/:lane', { id: 'shop-orders', lane });
        await call(`POST /v1/functions/:id/lanes/:lane/${verb}`, { id: 'shop-orders', lane });
      }
      await call('GET /v1/functions');
      await call('GET /v1/functions/:id', { id: 'shop-works' });
      await call('GET /v1/functions/:id/limits', { id: 'shop-works' });
      await call('POST /v1/functions/:id/pause', { id: 'shop-works' });
      await call('POST /v1/functions/:id/resume', { id: 'shop-works' });
      await call('GET /v1/allowed-origins');
      await call('PUT /v1/allowed-origins/:app', { app: 'shop' }, { origins: [new URL(host.url).origin] });
      const moved = { appName: 'shop', url: host.url.replace('127.0.0.1', 'localhost'), functions: [] };
      const hold = async () => (await service.post('/fn/register', moved, service.appHeaders)).body.held;
      const held = await hold();
      expect(await call('GET /v1/held-registrations')).to.have.length(1);
      await call('POST /v1/held-registrations/:id/confirm', { id: held }, {});
      await call('PUT /v1/allowed-origins/:app', { app: 'shop' }, { origins: [] });
      await call('DELETE /v1/held-registrations/:id', { id: await hold() });
      await call('GET /v1/apps');
      await call('PATCH /v1/apps/:name', { name: 'shop' }, { versioning: null });
      await call('POST /v1/apps/:name/check', { name: 'shop' });
      await call('GET /v1/apps/:name', { name: 'shop' });
      const { id: whatIf } = await call('POST /v1/what-ifs', {}, { url: host.url, app: 'shop', last: '1d' });
      await service.waitFor(`/v1/what-ifs/${whatIf}`, (response) => response.body.data.functions.length > 0);
      await call('GET /v1/what-ifs');
      await call('GET /v1/what-ifs/:id', { id: whatIf });
      await call('POST /v1/what-ifs/:id/cancel', { id: whatIf });
      const packing = [{ id: 'pack', triggers: [{ event: 'order/packed' }] }];
      const headers = service.appHeaders;
      const line = { app: 'line', version: 'v1', functions: packing, headers };
      const instance = await ConnectedInstance.connect(service.url, line);
      expect(await call('GET /v1/apps/:name/versions', { name: 'line' })).to.have.length(1);
      await call('POST /v1/apps/:name/versions/:version/activate', { name: 'line', version: 'v1' }, { percent: 100 });
      const connected = await call('GET /v1/apps/:name/connections', { name: 'line' });
      expect(connected).to.have.length(1);
      await call('DELETE /v1/apps/:name/connections/:id', { name: 'line', id: instance.id });
      await instance.close();
      await call('DELETE /v1/apps/:name', { name: 'shop' });
    });

    it('responses of webhooks, the request log and the holding page match their schemas', async () => {
      const names = { mode: 'deny', items: ['secret/*'] };
      const addresses = { mode: 'deny', items: ['192.0.2.0/24'] };
      const made = { name: 'GitHub', environment: 'branches', event_names: names, ip_addresses: addresses };
      const { id, url } = await call('POST /v1/webhooks', {}, made);
      await call('GET /v1/webhooks');
      await call('GET /v1/webhooks/stats');
      await call('GET /v1/providers');
      await call('GET /v1/providers/:id', { id: 'stripe' });
      const stripe = { name: 'Stripe', provider: 'stripe', secrets: ['whsec_one'] };
      const { id: verified } = await call('POST /v1/webhooks', {}, stripe);
      const { secrets } = await call('POST /v1/webhooks/:id/secrets', { id: verified }, { secret: 'whsec_two' });
      await call('DELETE /v1/webhooks/:id/secrets/:secret', { id: verified, secret: secrets[1].id });
      const reconciliation = { key: 'rk_test_one', account: { endpoint: 'we_1' } };
      await call('PATCH /v1/webhooks/:id', { id: verified }, { reconciliation });
      await call('POST /v1/webhooks/:id/reconcile', { id: verified }, {});
      await call('GET /v1/webhooks/:id/completeness', { id: verified });
      await call('GET /v1/webhooks/:id', { id });
      await call('PATCH /v1/webhooks/:id', { id }, { name: 'Other' });
      await call('PATCH /v1/webhooks/:id', { id }, { filter: 'true', message: 'All', if_version: 1 });
      await call('GET /v1/webhooks/:id/versions', { id });
      await call('GET /v1/webhooks/:id/versions/:version', { id, version: '1' });
      await call('GET /v1/webhooks/:id/versions/:version/diff', { id, version: '2' });
      await call('POST /v1/webhooks/:id/versions/:version/restore', { id, version: '1' }, { message: 'Back' });
      await call('POST /v1/webhooks/:id/pause', { id });
      await call('POST /v1/webhooks/:id/resume', { id });
      for (let n = 0; n < 4; n++) {
        await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"n":${n}}` });
      }
      await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data?.length === 4);
      const [{ id: rid }] = await call('GET /v1/webhooks/:id/requests', { id });
      await call('GET /v1/webhooks/:id/requests/:rid', { id, rid });
      await call('GET /v1/webhooks/:id/requests/:rid/original', { id, rid });
      await call('GET /v1/webhooks/:id/requests/:rid/body', { id, rid });
      await call('POST /v1/webhooks/:id/requests/:rid/rerun', { id, rid }, { dry_run: true });
      const draft = "const transform = () => ({ name: 'draft/x', data: {} });";
      await call('POST /v1/webhooks/:id/replays', { id }, { draft });
      const { replay } = await call('POST /v1/webhooks/:id/replays', { id }, { draft, dry_run: false, rate: 1 });
      const ofReplay = { id, replay: replay.id };
      await call('GET /v1/webhooks/:id/replays', { id });
      await call('GET /v1/webhooks/:id/replays/:replay', ofReplay);
      await call('POST /v1/webhooks/:id/replays/:replay/pause', ofReplay);
      await call('POST /v1/webhooks/:id/replays/:replay/resume', ofReplay);
      const results = `/v1/webhooks/${id}/replays/${replay.id}/results?status=done`;
      await service.waitFor(results, ({ body }) => body.data?.length > 0);
      await call('GET /v1/webhooks/:id/replays/:replay/results', ofReplay);
      await call('POST /v1/webhooks/:id/replays/:replay/cancel', ofReplay);
      const held = await call('GET /v1/holding');
      const [one, two] = held.map(({ internal_id }: { internal_id: string }) => internal_id);
      await call('GET /v1/holding/:id', { id: one });
      await call('POST /v1/holding/:id/assign', { id: one }, { environment: 'production' });
      await call('DELETE /v1/holding/:id', { id: two });
      await call('POST /v1/holding/assign', {}, { environment: 'production', name: 'webhook/received' });
      await call('POST /v1/holding/discard', {}, { ids: [two] });
      await call('DELETE /v1/holding', {}, undefined, '?all=true');
      const throws = "function transform() { throw new Error('no'); }";
      const { id: failing, url: failingUrl } = await call(
        'POST /v1/webhooks',
        {},
        { name: 'Fails', transform: throws },
      );
      await fetch(failingUrl, { method: 'POST', body: '{}' });
      await service.waitFor(`/v1/webhooks/${failing}/issues`, ({ body }) => body.data?.length === 1);
      const [{ id: issue }] = await call('GET /v1/webhooks/:id/issues', { id: failing });
      await call('GET /v1/webhook-issues');
      const { id: view } = await call('POST /v1/views', {}, { list: 'runs', name: 'Failed', query: 'status=Failed' });
      await call('GET /v1/views');
      await call('DELETE /v1/views/:id', { id: view });
      await call('GET /v1/webhook-issues/:issue', { issue });
      await call('POST /v1/webhook-issues/:issue/replay', { issue }, { dry_run: true });
      for (const action of ['acknowledge', 'ignore', 'resolve', 'reopen']) {
        await call(`POST /v1/webhook-issues/:issue/${action}`, { issue });
      }
      await call('POST /v1/webhooks/:id/rotate', { id }, { keep_old_seconds: 60 });
      await call('DELETE /v1/webhooks/:id', { id });
      const transform = 'function transform(evt) { console.log(evt); return { name: "a/b", data: evt }; }';
      await call('POST /v1/transforms/test', {}, { transform, body: { n: 1 } });
    });

    it('responses of environments, keys, users and the audit log match their schemas', async () => {
      await call('POST /v1/environments', {}, { name: 'staging' });
      await call('GET /v1/environments');
      await call('GET /v1/environments/:name', { name: 'staging' });
      await call('POST /v1/environments/:name/archive', { name: 'staging' });
      await call('POST /v1/environments/:name/unarchive', { name: 'staging' });
      await call('POST /v1/environments', {}, { name: 'a-branch', kind: 'branch' });
      await call('DELETE /v1/environments/:name', { name: 'a-branch' });
      await call('GET /v1/environments/:name/signing-key', { name: 'staging' });
      await call('POST /v1/environments/:name/signing-key/rotate', { name: 'staging' });
      const { id: keyId } = await call('POST /v1/event-keys', {}, { name: 'Shop', environment: 'staging' });
      await call('GET /v1/event-keys');
      await call('GET /v1/event-keys/:id', { id: keyId });
      await call('PATCH /v1/event-keys/:id', { id: keyId }, { max_bytes: 1_000 });
      await call('DELETE /v1/event-keys/:id', { id: keyId });
      await call('GET /v1/account/limits');
      await call('PATCH /v1/account/limits', {}, { event_max_bytes: 600_000 });
      await call('PATCH /v1/environments/:name/limits', { name: 'production' }, { event_max_bytes: null });
      const { id: apiKeyId } = await call('POST /v1/api-keys', {}, { name: 'CI', access: 'read' });
      await call('GET /v1/api-keys');
      await call('DELETE /v1/api-keys/:id', { id: apiKeyId });
      const users = [];
      for (const name of ['ada', 'bob']) {
        users.push(await call('POST /v1/users', {}, { email: `${name}@example.com`, role: 'admin' }));
      }
      const id = users[1].id;
      await call('GET /v1/users');
      await call('PATCH /v1/users/:id', { id }, { role: 'member' });
      await call('POST /v1/users/:id/password-link', { id });
      await call('DELETE /v1/users/:id/second-factors', { id });
      await call('DELETE /v1/users/:id', { id });
      await call('GET /v1/audit');
      await call('GET /v1/audit/refusals');
      await call('GET /v1/settings');
    });

    it('responses of searches match their schemas', async () => {
      await service.post(service.eventPath, { name: 'searched/x', data: { n: 1 } });
      await service.waitFor('/v1/events?name=searched/x', ({ body }) => body.data.length === 1);
      const found = await call('GET /v1/search', {}, undefined, '?text=searched/*');
      expect(JSON.stringify(found)).to.include('searched/x');
      const fields = await call('GET /v1/search/fields', {}, undefined, '?of=events&name=searched/x');
      expect(JSON.stringify(fields)).to.include('data.n');
    });

    it('responses about destinations match their schemas', async () => {
      const given = {
        name: 'crm',
        url: 'http://127.0.0.1:1/',
        events: ['crm/x'],
        filter: 'event.data.n > 1',
        flow: {},
      };
      await call('POST /v1/destinations', {}, { ...given, headers: { 'x-key': 'secret' } });
      await call('GET /v1/destinations');
      const name = { name: 'crm' };
      await call('GET /v1/destinations/:name', name);
      await call('PATCH /v1/destinations/:name', name, { retries: 0 });
      await call('POST /v1/destinations/:name/pause', name, { queued_runs: 'run' });
      await call('POST /v1/destinations/:name/resume', name);
      await call('POST /v1/destinations/:name/rotate-secret', name, {});
      await call('POST /v1/destinations/:name/test', name, { data: {} });
      await call('DELETE /v1/destinations/:name', name);
    });

    it('responses of overview and settings match their schemas', async () => {
      await call('GET /v1/metrics');
      await call('GET /v1/functions/stats');
      await call('GET /v1/runs/histogram');
      await call('GET /v1/overview');
      await call('GET /v1/status');
      await call('GET /v1/health/checks');
      await call('GET /v1/storage');
    });

    it('responses of the clock of dev mode match their schemas', async () => {
      const dev = await startService();
      try {
        await call('GET /v1/dev/clock', {}, undefined, '', dev);
        await call('POST /v1/dev/clock', {}, { advance: '1ms' }, '', dev);
      } finally {
        await dev.stop();
      }
    });

    it('responses about alerts match their schemas', async () => {
      await call('GET /v1/alerts');
      await call('GET /v1/alert-rules');
      await call('PATCH /v1/alert-rules/:rule', { rule: 'held_events' }, { threshold: 3 });
      const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'UTC' };
      const given = { name: 'ops', kind: 'webhook', url: 'http://127.0.0.1:1/', quiet_hours };
      const name = { name: 'ops' };
      await call('POST /v1/alert-channels', {}, given);
      await call('GET /v1/alert-channels');
      await call('GET /v1/alert-channels/:name', name);
      await call('PATCH /v1/alert-channels/:name', name, { messages_per_hour: 2 });
      await call('POST /v1/alert-channels/:name/test', name);
      await call('DELETE /v1/alert-channels/:name', name);
    });

    it('every route with a schema is compared with a response', () => {
      expect(routes.map(nameOf).filter((name) => !called.has(name))).to.deep.equal([]);
    });
  });
});
