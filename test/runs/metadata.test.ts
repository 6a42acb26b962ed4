import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const hashOf = (id: string) => createHash('sha1').update(id).digest('hex');

describe('Metadata of runs', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('plain', () => ({}));
    host.on('steps', ({ number, body }) => (number < 1 || !body.steps[hashOf('a')] ? stepWith(METADATA) : {}));
    host.on('broken', ({ body }) => (body.steps[hashOf('a')] ? {} : stepWith([{ kind: '', values: 1 }])));
    const functions = ['plain', 'steps', 'broken'].map((id) => ({ id, triggers: [{ event: `meta/${id}` }] }));
    await host.register(service, functions, { appName: 'meta' });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const METADATA = [
    { kind: 'userland.default', scope: 'step', op: 'set', values: { model: 'm', n: 1 } },
    { kind: 'inngest.score', scope: 'run', op: 'merge', values: { quality: { value: 0.5 } } },
  ];
  const stepWith = (metadata: unknown) => ({
    status: 206,
    body: [{ id: hashOf('a'), op: 'StepRun', name: 'a', data: 1, metadata }],
  });
  async function runOf(fn: string): Promise<string> {
    const [eventId] = (await service.post('/e/key', { name: `meta/${fn}`, data: {} })).body.ids;
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
    return body.data[0].run_id;
  }
  const update = (id: string, target: object, ...metadata: object[]) =>
    service.post(`/v1/runs/${id}/metadata`, { target: { run_id: id, ...target }, metadata });
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  const read = async (id: string): Promise<any[]> => (await service.get(`/v1/runs/${id}`)).body.data.metadata;

  it('can come with the operations of a step, about the step or its run', async () => {
    const id = await runOf('steps');
    const entries = (await read(id)).sort((a, b) => a.kind.localeCompare(b.kind));
    expect(entries.map(({ updated_at, ...entry }) => entry)).to.deep.equal([
      {
        scope: 'run',
        step_id: null,
        attempt: null,
        span_id: null,
        kind: 'inngest.score',
        values: { quality: { value: 0.5 } },
      },
      {
        scope: 'step',
        step_id: hashOf('a'),
        attempt: null,
        span_id: null,
        kind: 'userland.default',
        values: { model: 'm', n: 1 },
      },
    ]);
  });

  it('are reported if they are invalid, and the step continues', async () => {
    const [entry] = await read(await runOf('broken'));
    expect(entry).to.deep.include({ kind: 'service.rejected', step_id: hashOf('a') });
    expect(entry.values.reason).to.include('kind');
  });

  it('are set and merged by target with POST /v1/runs/:id/metadata, even after the end of the run', async () => {
    const id = await runOf('plain');
    await update(id, {}, { kind: 'inngest.score', op: 'merge', values: { a: { value: 1 }, 'line\nbreak': [] } });
    await update(id, {}, { kind: 'inngest.score', op: 'merge', values: { b: { value: true } } });
    await update(id, { step_id: 'greet' }, { kind: 'userland.default', op: 'set', values: { a: 1, b: 2 } });
    await update(id, { step_id: hashOf('greet') }, { kind: 'userland.default', op: 'set', values: { b: 3 } });
    await update(id, { step_id: 'greet', step_index: 1, step_attempt: 2 }, { kind: 'k', op: 'set', values: {} });
    const { status } = await update(
      id,
      { step_id: 'greet', span_id: 's' },
      { kind: 'k', op: 'set', values: { n: null } },
    );
    expect(status).to.equal(200);
    const entries = (await service.get(`/v1/runs/${id}/metadata`)).body.data;
    expect(
      entries.map(({ scope, step_id, attempt, span_id, values }: never) => [scope, step_id, attempt, span_id, values]),
    ).to.deep.equal([
      ['run', null, null, null, { a: { value: 1 }, 'line\nbreak': [], b: { value: true } }],
      ['step', hashOf('greet'), null, null, { b: 3 }],
      ['step_attempt', hashOf('greet:1'), 2, null, {}],
      ['extended_trace', hashOf('greet'), null, 's', { n: null }],
    ]);
    expect(entries).to.deep.equal(await read(id));
  });

  it('belong to one run: no path can name another of its keys', async () => {
    const id = await runOf('steps');
    const entry = { kind: 'userland.default', op: 'merge', values: { a: 1 } };
    for (const other of [`${id}:metadata`, `${id}:history`, `${id}:steps`]) {
      const path = `/v1/runs/${encodeURIComponent(other)}`;
      const body = { target: { run_id: other }, metadata: [entry] };
      const codes = [(await service.post(`${path}/metadata`, body)).status, (await service.get(path)).status];
      expect(codes, other).to.deep.equal([404, 404]);
    }
  });

  it('expire with their run', async () => {
    const id = await runOf('plain');
    await update(id, {}, { kind: 'k', op: 'set', values: { a: 1 } });
    const key = `${service.keys.of(id).prefix}:run:production:${id}`;
    const [ofRun, ofMetadata] = await Promise.all([service.redis.pttl(key), service.redis.pttl(`${key}:metadata`)]);
    expect(ofMetadata).to.be.within(ofRun - 1_000, ofRun + 1_000);
    const stepsId = await runOf('steps');
    const steps = `${service.keys.of(stepsId).prefix}:run:production:${stepsId}:metadata`;
    expect(await service.redis.pttl(steps)).to.be.above(0);
  });

  it('are limited in number and size, and rejected as a whole', async () => {
    const id = await runOf('plain');
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`v${n}`, n]));
    for (const values of [many, { large: 'x'.repeat(65_536) }]) {
      const { status, body } = await update(id, {}, { kind: 'k', op: 'merge', values });
      expect([status, body.code]).to.deep.equal([403, 'quota_exceeded']);
    }
    expect(await read(id)).to.deep.equal([]);
    const deep = JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`);
    for (const metadata of [
      [],
      [{ kind: 'k', op: 'remove', values: {} }],
      [{ kind: 'a\nb', op: 'set', values: {} }],
      [{ kind: 'k', op: 'set', values: [] }],
      [{ kind: 'k', op: 'set', values: { deep } }],
      Array.from({ length: 51 }, () => ({ kind: 'k', op: 'set', values: {} })),
    ]) {
      const { status } = await update(id, {}, ...metadata);
      expect(status, JSON.stringify(metadata).slice(0, 60)).to.equal(400);
    }
    expect((await update(id, { run_id: 'other' }, { kind: 'k', values: {} })).status).to.equal(400);
    expect((await update('01M7Z7A7B6FJ7DZJVGC757486T', {}, { kind: 'k', values: {} })).status).to.equal(404);
  });
});
