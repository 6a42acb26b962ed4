/** What functions log, as apps send it. */
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { follow } from '../support/stream.ts';
import { step } from './responses/cases/entry.ts';

const AT = 1_767_225_600_000;
const line = (message: string, more: object = {}) => ({ at: AT, level: 'info', message, ...more });
const batch = (lines: object[], more: object = {}) => ({ batch: 'b1', attempt: 0, lines, ...more });
const texts = (lines: { message: string }[]) => lines.map(({ message }) => message);

describe('The log of a run', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'f' }] }], { appName: 'logs' });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function newRun(on = service, event = 'f'): Promise<string> {
    const { body } = await on.post(on.eventPath, { name: event, data: {} });
    const path = `/v1/events/${body.ids[0]}/runs`;
    return (await on.waitFor(path, ({ body }) => body.data?.[0]?.ended_at)).body.data[0].run_id;
  }
  const send = (id: string, body: object, headers = {}) => service.post(`/v0/runs/${id}/logs`, body, headers);
  const read = async (id: string, query = '') => (await service.get(`/v1/runs/${id}/logs${query}`)).body;
  const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

  it('has the lines in the order received, with level, fields, step and attempt', async () => {
    const id = await newRun();
    expect((await read(id)).data).to.deep.equal([]);
    const lines = [line('start'), line('slow', { at: AT + 5, level: 'warn', fields: { ms: 7 }, step: step('a') })];
    expect(codeOf(await send(id, batch(lines)))).to.deep.equal([200, undefined]);
    await send(id, batch([line('again', { level: 'error' })], { batch: 'b2', attempt: 1, dropped: 4 }));
    const { data, metadata } = await read(id);
    const first = {
      at: new Date(AT).toISOString(),
      level: 'info',
      message: 'start',
      fields: null,
      step_id: null,
      attempt: 0,
    };
    expect(data).to.deep.equal([
      first,
      {
        ...first,
        at: new Date(AT + 5).toISOString(),
        level: 'warn',
        message: 'slow',
        fields: { ms: 7 },
        step_id: step('a'),
      },
      { ...first, level: 'error', message: 'again', attempt: 1 },
    ]);
    expect(metadata.dropped).to.equal(4);
  });

  it('contains a repeated batch once', async () => {
    const id = await newRun();
    for (let i = 0; i < 3; i++) expect((await send(id, batch([line('once')], { dropped: 1 }))).status).to.equal(200);
    const { data, metadata } = await read(id);
    expect([texts(data), metadata.dropped]).to.deep.equal([['once'], 1]);
  });

  it('is read in pages, by level and by step', async () => {
    const id = await newRun();
    const lines = Array.from({ length: 10 }, (_, i) =>
      line(`${i}`, { level: i % 2 ? 'warn' : 'debug', ...(i > 7 && { step: step('a') }) }),
    );
    await send(id, batch(lines));
    const first = await read(id, '?limit=4&level=warn,error');
    expect(texts(first.data)).to.deep.equal(['1', '3', '5', '7']);
    const rest = await read(id, `?limit=4&level=warn,error&cursor=${first.metadata.cursor}`);
    expect([texts(rest.data), rest.metadata.cursor]).to.deep.equal([['9'], undefined]);
    expect(texts((await read(id, `?step=${step('a')}`)).data)).to.deep.equal(['8', '9']);
    expect(texts((await read(id, '?step=none')).data)).to.have.lengthOf(8);
    expect(codeOf(await service.get(`/v1/runs/${id}/logs?level=loud`))).to.deep.equal([400, 'input_invalid']);
  });

  it('keeps the oldest 1,000 lines and counts the others', async () => {
    const id = await newRun();
    for (let i = 0; i < 6; i++) {
      await send(
        id,
        batch(
          Array.from({ length: 190 }, (_, n) => line(`${i * 190 + n}`)),
          { batch: `b${i}` },
        ),
      );
    }
    const { data, metadata } = await read(id, '?limit=1000');
    expect([data.length, data[999].message, metadata.dropped]).to.deep.equal([1_000, '999', 140]);
  });

  it('keeps the oldest 256 KiB and counts the others', async () => {
    const id = await newRun();
    const long = (n: number) => Array.from({ length: 30 }, (_, i) => line(`${n}-${i} ${'x'.repeat(8_000)}`));
    await send(id, batch(long(0)));
    await send(id, batch(long(1), { batch: 'b2' }));
    const { data, metadata } = await read(id);
    expect(JSON.stringify(data).length).to.be.within(250_000, 275_000);
    expect(data.length + metadata.dropped).to.equal(60);
  });

  const deep = { a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } };
  const REFUSED: Record<string, [body: object | string, status: number, code: string]> = {
    'with a message of more than 8,192 characters': [batch([line('x'.repeat(8_193))]), 400, 'input_invalid'],
    'with fields of more than 8,192 bytes': [
      batch([line('x', { fields: { y: 'y'.repeat(8_200) } })]),
      400,
      'input_invalid',
    ],
    'with fields of more than 8 levels': [batch([line('x', { fields: deep })]), 400, 'input_invalid'],
    'with more than 200 lines': [batch(Array.from({ length: 201 }, () => line('x'))), 400, 'input_invalid'],
    'with another level': [batch([line('x', { level: 'loud' })]), 400, 'input_invalid'],
    'with a step that is no hash': [batch([line('x', { step: 'a' })]), 400, 'input_invalid'],
    'with a batch ID of another form': [batch([], { batch: 'a b' }), 400, 'input_invalid'],
    'of more than 256 KiB': [batch([line('x')], { more: 'x'.repeat(270_000) }), 413, 'body_too_large'],
    'that is no JSON': ['{', 400, 'body_not_json'],
    'that is nested too deeply': [`${'['.repeat(5_000)}${']'.repeat(5_000)}`, 400, 'input_invalid'],
  };
  for (const [what, [body, status, code]] of Object.entries(REFUSED)) {
    it(`rejects a batch ${what} as a whole`, async () => {
      const id = await newRun();
      const response = await service.post(`/v0/runs/${id}/logs`, body as object, {
        'content-type': 'application/json',
      });
      expect(codeOf(response)).to.deep.equal([status, code]);
      expect((await read(id)).data).to.deep.equal([]);
    });
  }

  it('accepts 100 batches of a run in 10 s, without affecting those of other runs', async () => {
    const [id, other] = [await newRun(), await newRun()];
    const responses = await Promise.all(
      Array.from({ length: 110 }, (_, i) => send(id, batch([line('x')], { batch: `b${i}` }))),
    );
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused.map(codeOf)).to.deep.equal(Array.from({ length: 10 }, () => [429, 'rate_exceeded']));
    expect(refused[0]?.headers.get('retry-after')).to.equal('10');
    expect((await send(other, batch([line('x')]))).status).to.equal(200);
  });

  it('is not visible in another environment', async () => {
    const id = await newRun();
    await service.post('/v1/environments', { name: 'logs-branch', kind: 'branch' });
    const elsewhere = await send(id, batch([line('x')]), { 'x-service-env': 'logs-branch' });
    expect(codeOf(elsewhere)).to.deep.equal([404, 'not_found']);
    expect(codeOf(await send(id, batch([line('x')]), { 'x-service-env': 'nowhere' }))).to.deep.equal([
      404,
      'environment_unknown',
    ]);
    await send(id, batch([line('mine')]));
    const seen = await service.get(`/v1/runs/${id}/logs`, { 'x-service-env': 'logs-branch' });
    expect(codeOf(seen)).to.deep.equal([404, 'not_found']);
  });

  it('is rejected for an unknown run, and expires with its run', async () => {
    expect(codeOf(await send('01M7Z7A7B6FJ7DZJVGC757486T', batch([line('x')])))).to.deep.equal([404, 'not_found']);
    expect(codeOf(await send('nope', batch([line('x')])))).to.deep.equal([404, 'not_found']);
    const id = await newRun();
    await send(id, batch([line('x')]));
    const keys = service.keys.of(id);
    const [run, logs] = [keys.run('production', id), keys.logs('production', id)];
    const left = await service.redis.pttl(run);
    expect(left).to.be.above(0);
    expect(await service.redis.pttl(logs)).to.be.within(left - 60_000, left);
    await service.redis.del(run);
    expect(codeOf(await send(id, batch([line('late')], { batch: 'b2' })))).to.deep.equal([404, 'not_found']);
  });

  it('is announced to open pages as a change of the run', async () => {
    const stream = await follow(`${service.url}/v1/stream`);
    const id = await newRun();
    const isOf = ({ run_id, status }: { run_id: string; status: string }) => run_id === id && status === 'Completed';
    const ended = await stream.next('runs', ({ data }) => data.runs.some(isOf));
    await send(id, batch([line('x')]));
    await stream.next('runs', (message) => message !== ended && message.at >= ended.at && message.data.runs.some(isOf));
    stream.close();
  });

  it('is announced in each call to apps with clients of the service, but to no official SDK', async () => {
    await host.register(service, [{ id: 'own', triggers: [{ event: 'own' }] }], { appName: 'own' });
    await newRun(service, 'own');
    expect((await host.nextCall('own')).body.ctx.logs).to.equal(true);
    await host.register(service, [{ id: 'theirs', triggers: [{ event: 'theirs' }] }], {
      appName: 'theirs',
      dialect: 'inngest',
    });
    await newRun(service, 'theirs');
    expect((await host.nextCall('theirs')).body.ctx).not.to.have.property('logs');
  });

  it('is neither announced nor accepted with RUN_LOGS=false', async () => {
    const own = await startService({ env: { RUN_LOGS: 'false' } });
    try {
      await host.register(own, [{ id: 'off', triggers: [{ event: 'off' }] }], { appName: 'off' });
      const id = await newRun(own, 'off');
      expect((await host.nextCall('off')).body.ctx).not.to.have.property('logs');
      expect((await own.post(`/v0/runs/${id}/logs`, batch([line('x')]))).status).to.equal(404);
    } finally {
      await own.stop();
    }
  });

  it('needs the signing key of the environment', async () => {
    const own = await startService({ dev: false });
    try {
      await host.register(own, [{ id: 'signed', triggers: [{ event: 'signed' }] }], { appName: 'signed' });
      const id = await newRun(own, 'signed');
      const given = (headers: Record<string, string>) => own.post(`/v0/runs/${id}/logs`, batch([line('x')]), headers);
      for (const headers of [{}, { authorization: 'Bearer signkey-test-00' }, own.apiHeaders]) {
        expect(codeOf(await given(headers))).to.deep.equal([401, 'credentials_invalid']);
      }
      expect((await given(own.appHeaders)).status).to.equal(200);
      expect((await own.get(`/v1/runs/${id}/logs`)).body.data).to.have.lengthOf(1);
    } finally {
      await own.stop();
    }
  });
});
