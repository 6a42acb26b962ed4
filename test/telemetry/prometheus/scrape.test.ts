import { expect } from 'chai';
import { type AppHost, startAppHost } from '../../support/app-host.ts';
import { type Scrape, scrape } from '../../support/scrape.ts';
import { SECRETS, type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const TRANSFORM = `function transform(evt) {
  if (evt.kind === 'bad') throw new Error('no');
  if (evt.kind === 'none') return null;
  while (evt.kind === 'endless') {}
  return { name: 'hook/made-by-hand', data: evt };
}`;

describe('GET /metrics', () => {
  let service: Service;
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(async () => {
    // First: a call in flight would keep its worker from exiting.
    await host.close();
    await service.stop();
  });

  const ofWeb = () => scrape(`http://127.0.0.1:${service.webs[0]?.metricsPort}`);
  const ofWorker = () => scrape(`http://127.0.0.1:${service.workers[0]?.metricsPort}`);

  /** Scrapes until the condition is met. */
  async function eventually(of: () => Promise<Scrape>, describe: string, isMet: (scrape: Scrape) => boolean) {
    let last: Scrape | undefined;
    const check = async () => {
      last = await of();
      return isMet(last) && last;
    };
    return until(check, { describe: () => `${describe}; last it was:\n${last?.text}` });
  }

  it('counts accepted and rejected events, acknowledgements and commits of web', async () => {
    service = await startService({ dev: false, workers: 0, env: { METRICS_PORT: '0' } });
    const path = service.eventPath;
    const bodies = [
      { name: 'shop/paid', data: {}, id: 'order-1' },
      { name: 'shop/paid', data: {}, id: 'order-1' },
      [
        { name: 'shop/paid', data: {} },
        { name: 'shop/other', data: {} },
      ],
    ];
    for (const body of bodies) expect((await service.post(path, body)).status).to.equal(200);
    expect((await service.post(path, { data: {} })).status).to.equal(400);
    expect((await service.post('/e/unheard-of-key', { name: 'x', data: {} })).status).to.equal(401);
    const route = '/e/:key';
    // A request is counted when its response has been sent.
    const web = await eventually(
      ofWeb,
      'all requests are counted',
      (one) => one.value('tidegate_http_request_duration_seconds_count', { method: 'POST', route }) === 5,
    );
    expect(web.value('tidegate_events_accepted_total', { duplicate: 'false' })).to.equal(3);
    expect(web.value('tidegate_events_accepted_total', { duplicate: 'true' })).to.equal(1);
    expect(web.value('tidegate_commit_batch_events_sum')).to.equal(4);
    expect(web.value('tidegate_commit_batch_events_count')).to.equal(3);
    expect(web.value('tidegate_commit_duration_seconds_count')).to.equal(3);
    expect(web.value('tidegate_events_uncommitted')).to.equal(0);
    expect(web.value('tidegate_event_acknowledgement_duration_seconds_count')).to.equal(3);
    expect(web.value('tidegate_event_acknowledgement_duration_seconds_sum')).to.be.within(0.000_01, 10);
    expect(web.value('tidegate_http_requests_total', { method: 'POST', route, status: '2xx' })).to.equal(3);
    expect(web.value('tidegate_http_requests_total', { method: 'POST', route, status: '4xx' })).to.equal(2);
    expect(web.value('tidegate_http_errors_total', { route, code: 'event_invalid' })).to.equal(1);
    expect(web.value('tidegate_http_errors_total', { route, code: 'key_unknown' })).to.equal(1);
    // The body of the request with an unknown key was not read.
    const bytes = [...bodies, { data: {} }].reduce((sum, body) => sum + JSON.stringify(body).length, 0);
    expect(web.value('tidegate_event_request_size_bytes_count')).to.equal(4);
    expect(web.value('tidegate_event_request_size_bytes_sum')).to.equal(bytes);
  });

  it('shows the size and age of a backlog without a worker', async () => {
    service = await startService({ workers: 0, env: { METRICS_PORT: '0' } });
    const empty = await ofWeb();
    expect(empty.value('tidegate_queue_jobs', { queue: 'ingest', state: 'waiting' })).to.equal(0);
    expect(empty.value('tidegate_queue_backlog_age_seconds', { queue: 'ingest' })).to.equal(0);
    const sentAt = Date.now();
    await service.post('/e/key', { name: 'shop/paid', data: {} });
    await service.post('/e/key', { name: 'shop/paid', data: {} });
    const age = (one: Scrape) => one.value('tidegate_queue_backlog_age_seconds', { queue: 'ingest' }) as number;
    const first = await eventually(
      ofWeb,
      'two jobs wait, for a while',
      (one) => one.value('tidegate_queue_jobs', { queue: 'ingest', state: 'waiting' }) === 2 && age(one) > 0,
    );
    await eventually(ofWeb, 'they have waited longer', (one) => age(one) > age(first));
    expect(age(first)).to.be.at.most((Date.now() - sentAt) / 1_000);
    expect(first.value('tidegate_processes', { kind: 'worker' })).to.equal(0);
    expect(first.value('tidegate_redis_up')).to.equal(1);
    expect(first.value('tidegate_redis_used_memory_bytes')).to.be.greaterThan(100_000);
  });

  it('counts ingested events, function calls, ended runs and failures of a worker', async () => {
    service = await startService({ env: { METRICS_PORT: '0', RETRY_SCALE: '0.0005', RUN_CONCURRENCY: '7' } });
    host.on('fails-once', ({ number }) => (number === 0 ? { status: 500, body: { name: 'Busy', message: 'x' } } : {}));
    host.on('silent', () => 'hang up');
    let respond = () => {};
    host.on('slow', () => new Promise((resolve) => (respond = () => resolve({}))));
    const functions = ['fails-once', 'silent', 'slow'].map((id) => ({
      id,
      triggers: [{ event: `shop/${id}` }],
      retries: 1,
    }));
    await host.register(service, functions);
    await service.post('/e/key', [
      { name: 'shop/fails-once', data: {}, id: 'a' },
      { name: 'shop/silent', data: {} },
    ]);
    await service.post('/e/key', { name: 'shop/fails-once', data: {}, id: 'a' });
    // `function.failed` of the failed run is an event, too.
    const ended = await eventually(
      ofWorker,
      'both runs have ended, and all is ingested',
      (one) =>
        one.sum('tidegate_runs_ended_total') === 2 &&
        one.sum('tidegate_events_ingested_total') === 4 &&
        one.sum('tidegate_jobs_active') === 0,
    );
    expect(ended.value('tidegate_events_ingested_total', { duplicate: 'true' })).to.equal(1);
    expect(ended.value('tidegate_event_ingest_latency_seconds_count')).to.equal(3);
    expect(ended.value('tidegate_ingest_batch_events_sum')).to.equal(4);
    expect(ended.value('tidegate_runs_started_total')).to.equal(2);
    expect(ended.value('tidegate_run_start_delay_seconds_count')).to.equal(2);
    expect(ended.value('tidegate_runs_ended_total', { status: 'Completed' })).to.equal(1);
    expect(ended.value('tidegate_runs_ended_total', { status: 'Failed' })).to.equal(1);
    const calls = (result: string) => ended.value('tidegate_function_calls_total', { result });
    expect([calls('completed'), calls('failed'), calls('no_response'), calls('steps')]).to.deep.equal([1, 1, 2, 0]);
    expect(ended.value('tidegate_function_call_duration_seconds_count')).to.equal(4);
    expect(ended.value('tidegate_jobs_total', { queue: 'runs', outcome: 'failed' })).to.equal(3);
    expect(ended.value('tidegate_jobs_total', { queue: 'runs', outcome: 'completed' })).to.equal(1);
    for (const queue of ['ingest', 'runs']) {
      const jobs = ended.sum('tidegate_jobs_total', { queue });
      expect(ended.value('tidegate_job_duration_seconds_count', { queue }), queue).to.equal(jobs);
    }
    // The worker accepts the `function.failed` event.
    expect(ended.value('tidegate_events_accepted_total', { duplicate: 'false' })).to.equal(1);

    await service.post('/e/key', { name: 'shop/slow', data: {} });
    await host.nextCall('slow');
    const active = await eventually(
      ofWorker,
      'the call is in flight',
      (one) => one.value('tidegate_jobs_active', { queue: 'runs' }) === 1,
    );
    expect(active.value('tidegate_job_concurrency', { queue: 'runs' })).to.equal(7);
    const stored = await eventually(ofWeb, 'web sees it, too', (one) => one.value('tidegate_runs_active') === 1);
    expect(stored.value('tidegate_queue_jobs', { queue: 'runs', state: 'active' })).to.equal(1);
    expect(stored.value('tidegate_processes', { kind: 'worker' })).to.equal(1);
    respond();
    await eventually(ofWorker, 'it is done', (one) => one.value('tidegate_jobs_active', { queue: 'runs' }) === 0);
  });

  it('counts outcomes of webhook requests and results of their transforms', async () => {
    service = await startService({ workers: 0, env: { METRICS_PORT: '0', TRANSFORM_THREADS: '2' } });
    const { body } = await service.post('/v1/webhooks', { name: 'hook', transform: TRANSFORM });
    const path = new URL(body.data.url).pathname;
    const send = async (kind: string) => (await service.post(path, { kind })).status;
    expect([await send('good'), await send('none'), await send('bad')]).to.deep.equal([200, 200, 400]);
    for (let n = 0; n < 3; n++) expect(await send('endless')).to.equal(400);
    expect(await send('good')).to.equal(503);
    const web = await eventually(
      ofWeb,
      'all requests are counted',
      (one) => one.sum('tidegate_webhook_requests_total') === 7,
    );
    const outcome = (name: string) => web.value('tidegate_webhook_requests_total', { outcome: name });
    expect([outcome('accepted'), outcome('ignored'), outcome('rejected')]).to.deep.equal([1, 1, 5]);
    const errors = (code: string) => web.value('tidegate_http_errors_total', { route: '/e/:key', code });
    expect([errors('transform_failed'), errors('transform_quarantined')]).to.deep.equal([4, 1]);
    expect(web.value('tidegate_transforms_stopped_total', { cause: 'time' })).to.equal(3);
    expect(web.value('tidegate_transform_quarantines_total')).to.equal(1);
    // Three completed runs, and the check of the code before it was saved.
    expect(web.value('tidegate_transform_duration_seconds_count')).to.equal(4);
    expect(web.value('tidegate_transform_processes')).to.be.within(1, 2);
    expect(web.value('tidegate_transform_threads')).to.equal(2);
    expect(web.value('tidegate_transforms_in_flight')).to.equal(0);
    const opened = (one: typeof web, kind: string) => one.value('tidegate_webhook_issues_opened_total', { kind });
    const accepted = (one: typeof web) => one.value('tidegate_events_accepted_total', { duplicate: 'false' });
    // The event of the webhook, and those that tell of its issues.
    const told = await eventually(ofWeb, 'the issues are told', (one) => accepted(one) === 3);
    expect([opened(told, 'transform'), opened(told, 'quarantine')]).to.deep.equal([1, 1]);
  });

  it('counts transform processes that exit and their replacements', async () => {
    service = await startService({ workers: 0, env: { METRICS_PORT: '0', TRANSFORM_TIMEOUT_MS: '8000' } });
    // Aborts its process long before its timeout: once beside others, and once alone, which leads to a strike.
    const transform = 'function transform(evt) { return evt.kill ? "x".repeat(5e8).split("") : null; }';
    const { body } = await service.post('/v1/webhooks', { name: 'hungry', transform });
    const path = new URL(body.data.url).pathname;
    expect((await service.post(path, { kill: true })).status).to.equal(400);
    expect((await service.post(path, {})).status).to.equal(200);
    const web = await ofWeb();
    const exits = (cause: string) => web.value('tidegate_transform_process_exits_total', { cause }) as number;
    // It crashes, or is killed for its memory: whichever comes first.
    expect(exits('crash') + exits('memory')).to.equal(2);
    expect(web.value('tidegate_transforms_stopped_total', { cause: 'memory' })).to.equal(1);
    expect(web.value('tidegate_transform_quarantines_total')).to.equal(0);
    // The main process, and the one for suspects, where the last request ran.
    expect(web.value('tidegate_transform_processes')).to.equal(2);
  });

  it('has only documented labels, without a key, event name, ID or path', async () => {
    service = await startService({ dev: false, env: { METRICS_PORT: '0' } });
    await host.register(service, [{ id: 'a-function', triggers: [{ event: 'shop/a-name' }] }]);
    const { body } = await service.post(service.eventPath, { name: 'shop/a-name', data: {}, id: 'an-id' });
    await service.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
    const hook = await service.post('/v1/webhooks', { name: 'hook', transform: TRANSFORM }, service.apiHeaders);
    await service.post(new URL(hook.body.data.url).pathname, {});
    for (const path of ['/a-path', '/queues', '/queues/api/queues', '/v1/events', '/assets/x.js', '/?a-query']) {
      await service.get(path);
    }
    for (const ask of [ofWeb, ofWorker]) {
      const { series, text } = await ask();
      const mine = series.filter(({ name }) => name.startsWith('tidegate_'));
      const used = new Set(mine.flatMap(({ labels }) => Object.keys(labels)));
      expect([...used].sort()).to.have.members([...used].filter((label) => LABELS.has(label)));
      const secrets = [...Object.values(SECRETS), hook.body.data.url.split('/e/')[1], hook.body.data.id];
      for (const word of [...secrets, body.ids[0], 'a-name', 'an-id', 'a-function', 'a-path', 'a-query', 'x.js']) {
        expect(text, word).not.to.include(word);
      }
      expect(ROUTES).to.include.members(mine.flatMap(({ labels }) => labels.route ?? []));
      const roles = new Set(series.map(({ labels }) => labels.role));
      expect([...roles]).to.deep.equal([ask === ofWeb ? 'web' : 'worker']);
    }
  });
});

/** Routes that the test has requested. */
const ROUTES = ['/e/:key', '/fn/register', '/v1/events', '/v1/events/:id/runs', '/v1/webhooks', '/queues', 'other'];

const LABELS = new Set([
  'role',
  'le',
  'version',
  'duty',
  'duplicate',
  'method',
  'route',
  'status',
  'code',
  'outcome',
  'cause',
  'queue',
  'reason',
  'state',
  'kind',
  'result',
  'environment',
  'function',
]);
