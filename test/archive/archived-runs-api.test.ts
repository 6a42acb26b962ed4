import { expect } from 'chai';
import type pg from 'pg';
import { ulid } from 'ulid';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { connectPostgres, schemaOf } from '../support/postgres.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** 3.6 s. */
const HOT_HOURS = '0.001';
const WAIT = { timeoutMs: 40_000 };

const AT = Date.UTC(2026, 5, 15);

const idOf = (letter: string) => letter.repeat(40);
const ran = (letter: string, data: unknown) => ({
  status: 206,
  body: [{ id: idOf(letter), op: 'StepRun', name: letter, displayName: letter, data }],
});

describe('The API of archived runs', () => {
  let service: Service;
  let host: AppHost;
  let postgres: pg.Client;
  let eventId: string;
  let runId: string;
  /** Its response while it was in Redis. */
  let hot: { data: Record<string, unknown> };

  before(async () => {
    service = await startService({ archive: true, env: { HOT_HOURS } });
    host = await startAppHost();
    postgres = await connectPostgres(schemaOf(service.prefix));
    host.on('steps', twoSteps);
    await host.register(service, [{ id: 'steps', triggers: [{ event: 'steps/x' }] }]);
    const sent = await service.post('/e/key', { name: 'steps/x', data: { total: 3 } });
    eventId = sent.body.ids[0];
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    runId = body.data[0].run_id;
    hot = (await service.get(`/v1/runs/${runId}`)).body;
    await isArchived(runId);
  });

  after(async () => {
    await postgres.end();
    await host.close();
    await service.stop();
  });

  /** Steps a and b, with the number of the call as their data; the first call sends a log. */
  async function twoSteps({ body, number }: Call) {
    if (number === 0) {
      const lines = [
        { at: AT, level: 'info', message: 'start' },
        { at: AT, level: 'error', message: 'no card', fields: { card: 'A1' }, step: idOf('a') },
      ];
      await service.post(`/v0/runs/${body.ctx.run_id}/logs`, { batch: 'b1', attempt: 0, lines, dropped: 3 });
    }
    const next = ['a', 'b'][body.ctx.stack.stack.length];
    return next === undefined ? { body: { total: body.event.data.total, steps: body.steps } } : ran(next, number);
  }

  async function isArchived(id: string) {
    const key = service.keys.of(id).run('production', id);
    await until(async () => (await service.redis.exists(key)) === 0, {
      ...WAIT,
      describe: `the run ${id} is archived`,
    });
  }

  async function ended(id: string) {
    const { body } = await service.waitFor(`/v1/runs/${id}`, (response) => response.body.data?.ended_at);
    return body.data;
  }

  it('a what-if walks it through another build', async () => {
    const candidate = await startAppHost();
    try {
      candidate.registration([{ id: 'steps', triggers: [] }]);
      candidate.on('steps', ({ body }) => {
        const next = ['a', 'b'][body.ctx.stack.stack.length];
        if (next === undefined) return { body: { total: body.event.data.total, steps: body.steps } };
        return { status: 206, body: [{ id: idOf(next), op: 'StepPlanned', name: next, displayName: next }] };
      });
      const { body } = await service.post('/v1/what-ifs', { url: candidate.url, active: false, last: '1h' });
      const path = `/v1/what-ifs/${body.data.id}`;
      const found = (await service.waitFor(path, ({ body: now }) => now.data?.status === 'done')).body.data;
      expect(found, JSON.stringify(found)).to.deep.include({ checked: 1, unchanged: 1 });
      expect(candidate.calls('steps')).to.have.length(3);
    } finally {
      await candidate.close();
    }
  });

  it('is the same as that of runs in Redis', async () => {
    expect((await service.get(`/v1/runs/${runId}`)).body.data).to.deep.equal(hot.data);
    const step = await service.get(`/v1/runs/${runId}/steps/${idOf('a')}`);
    expect(step.body.data).to.deep.equal({ step_id: idOf('a'), data: 0 });
    expect((await service.get(`/v1/runs/${runId}/steps/${idOf('x')}`)).status).to.equal(404);
    expect((await service.get(`/v1/runs/${runId}/jobs`)).body.data).to.deep.equal([]);
    for (const query of [
      'status=Completed',
      `event_id=${eventId}`,
      `function_id=${hot.data.function_id}`,
      'fields=output',
    ]) {
      const { body } = await service.get(`/v1/runs?${query}`);
      expect(
        body.data.map((run: { run_id: string }) => run.run_id),
        query,
      ).to.deep.equal([runId]);
      expect(body.metadata, query).to.not.have.property('stopped_early');
      if (query === 'fields=output') expect(body.data[0].output).to.deep.equal(hot.data.output);
    }
    const histogram = (await service.get(`/v1/runs/histogram?function_id=${hot.data.function_id}`)).body;
    const sum = (counts: { completed: number }[]) => counts.reduce((total, { completed }) => total + completed, 0);
    expect(sum(histogram.data)).to.equal(1);
    expect(histogram.metadata).to.not.have.property('stopped_early');
    expect((await service.get('/v1/runs?status=Failed')).body.data).to.deep.equal([]);
    const runs = await service.get(`/v1/events/${eventId}/runs`);
    expect(runs.body.data).to.have.length(1);
  });

  it('finds them in a look-up, but no others', async () => {
    const ids = [`${runId}:x`, ulid(), runId, ulid(Date.now())];
    const { body } = await service.post('/v1/runs/lookup', { ids });
    expect(body.data).to.deep.equal(ids.map((id) => ({ id, found: id === runId })));
  });

  it('shows their logs', async () => {
    const read = async (query = '') => (await service.get(`/v1/runs/${runId}/logs${query}`)).body;
    const { data, metadata } = await read();
    const line = { at: new Date(AT).toISOString(), attempt: 0 };
    expect(data).to.deep.equal([
      { ...line, level: 'info', message: 'start', fields: null, step_id: null },
      { ...line, level: 'error', message: 'no card', fields: { card: 'A1' }, step_id: idOf('a') },
    ]);
    expect(metadata.dropped).to.equal(3);
    expect((await read(`?step=${idOf('a')}&level=error`)).data).to.deep.equal(data.slice(1));
  });

  it('refuses to cancel or retry them', async () => {
    const cancel = await service.request('DELETE', `/v1/runs/${runId}`);
    expect([cancel.status, cancel.body.code]).to.deep.equal([409, 'run_ended']);
    const retry = await service.post(`/v1/runs/${runId}/retry-now`, {});
    expect([retry.status, retry.body.code]).to.deep.equal([409, 'run_not_waiting']);
  });

  it('updates metadata', async () => {
    const update = { target: { run_id: runId }, metadata: [{ kind: 'user.score', op: 'merge', values: { a: 1 } }] };
    const { status, body } = await service.post(`/v1/runs/${runId}/metadata`, update);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect((await service.get(`/v1/runs/${runId}/metadata`)).body.data).to.deep.equal(body.data);
    expect(body.data[0]).to.deep.include({ kind: 'user.score', values: { a: 1 } });
  });

  it('re-runs an archived run, again when its re-run is archived, and from a step', async () => {
    const first = await service.post(`/v1/runs/${runId}/retry`, {});
    expect(first.status, JSON.stringify(first.body)).to.equal(201);
    const firstId = first.body.data.run_id;
    const run = await ended(firstId);
    expect(run).to.include({ status: 'Completed', retry_of: runId });
    expect(run.output.total).to.equal(3);
    await isArchived(firstId);
    const second = await service.post(`/v1/runs/${runId}/retry`, {});
    expect(second.status).to.equal(201);
    const secondId = second.body.data.run_id;
    expect([runId, firstId]).to.not.include(secondId);
    expect((await ended(secondId)).status).to.equal('Completed');
    const calls = host.calls('steps').length;
    const third = await service.post(`/v1/runs/${firstId}/retry`, { from_step: { step_id: idOf('b') } });
    expect(third.status, JSON.stringify(third.body)).to.equal(201);
    const { output } = await ended(third.body.data.run_id);
    expect(output.steps[idOf('a')]).to.deep.equal(run.output.steps[idOf('a')]);
    expect(output.steps[idOf('b')]).to.not.deep.equal(run.output.steps[idOf('b')]);
    expect(host.calls('steps').length - calls).to.equal(2);
    for (const id of [secondId, third.body.data.run_id]) await isArchived(id);
    const { body } = await service.get(`/v1/events/${eventId}/runs`);
    expect(body.data.map((item: { run_id: string }) => item.run_id)).to.deep.equal([
      runId,
      firstId,
      secondId,
      third.body.data.run_id,
    ]);
    const wrong = await service.post(`/v1/runs/${firstId}/retry`, { from_step: { step_id: idOf('x') } });
    expect([wrong.status, wrong.body.code]).to.deep.equal([400, 'input_invalid']);
  });

  it('re-runs archived runs by a filter', async () => {
    const filter = { function_id: hot.data.function_id, status: 'completed', queued_before: hot.data.ended_at };
    const { body: dry } = await service.post('/v1/runs/bulk', { action: 'retry', filter, dry_run: true });
    expect(dry.data).to.deep.include({ count: 1, by_status: { Completed: 1 }, stopped_at: null });
    const progressOf = async (more: object) => {
      const { body } = await service.post('/v1/runs/bulk', { action: 'retry', filter, ...more });
      const path = `/v1/runs/bulk/${body.data.id}`;
      return (await service.waitFor(path, (response) => response.body.data?.status === 'done')).body.data.progress;
    };
    expect(await progressOf({})).to.deep.include({ done: 0, skipped: { already_rerun: 1 } });
    expect(await progressOf({ include_already_rerun: true })).to.deep.include({ done: 1, skipped: {} });
    const { body: listed } = await service.get('/v1/runs?limit=100');
    const [newest] = listed.data.filter(({ retry_of }: { retry_of: string | null }) => retry_of === runId);
    expect((await ended(newest.run_id)).status).to.equal('Completed');
  });

  it('finds runs by the fingerprint of their error, and re-runs them all', async () => {
    let isMended = false;
    const failure = {
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: { name: 'Error', message: 'no 1' },
    };
    host.on('breaks', () => (isMended ? {} : failure));
    await host.register(service, [{ id: 'breaks', triggers: [{ event: 'breaks/x' }] }], { appName: 'archived' });
    await service.post('/e/key', { name: 'breaks/x', data: {} });
    const groups = '/v1/errors?function_id=archived-breaks';
    const { body } = await service.waitFor(groups, (response) => response.body.data?.[0]?.count === 1);
    const [{ fingerprint, sample_run_ids: ids }] = body.data;
    await isArchived(ids[0]);
    for (const filter of ['', '&function_id=archived-breaks']) {
      const found = await service.get(`/v1/runs?fingerprint=${fingerprint}${filter}`);
      expect(found.body.data.map(({ run_id }: { run_id: string }) => run_id)).to.deep.equal(ids);
    }
    expect((await service.get(`/v1/runs?fingerprint=${'0'.repeat(32)}`)).body.data).to.deep.equal([]);
    expect((await service.get(`/v1/runs/${ids[0]}`)).body.data).to.include({ fingerprint, failed_step: null });
    isMended = true;
    await service.post('/v1/runs/bulk', { action: 'retry', filter: { fingerprint } });
    const completed = '/v1/runs?function_id=archived-breaks&status=Completed';
    const again = await service.waitFor(completed, (response) => response.body.data?.length === 1, 20_000);
    expect(again.body.data[0].retry_of).to.equal(ids[0]);
  });

  it('sends an archived event again', async () => {
    const { status, body } = await service.post(`/v1/events/${eventId}/send-again`, {});
    expect(status, JSON.stringify(body)).to.equal(201);
  });
});
