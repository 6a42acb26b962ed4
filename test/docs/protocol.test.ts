import { expect } from 'chai';
import { serve } from 'tidegate/node';
import { CATALOGUE } from '../../src/errors.ts';
import { JSON_TEXT } from '../../src/functions/connect/formats.ts';
import { KIND, Reply } from '../../src/functions/connect/messages.ts';
import { hashedKey } from '../../src/functions/signing.ts';
import { OPERATION_NAMES } from '../../src/jobs/runs/operations/apply-operations.ts';
import { registrationSchema } from '../../src/model/apps/app.ts';
import { readErrorSource } from '../../src/model/runs/error-source.ts';
import { logBatchSchema } from '../../src/model/runs/log-lines.ts';
import { parseOps } from '../../src/model/runs/operation.ts';
import { startApp } from '../runs/steps/sdk-adapters.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { blocksOf, jsonOf, pageOf } from './examples.ts';

const PAGE = pageOf('protocol.md');
const BLOCKS = blocksOf(PAGE);
const EVENT_ID = 'order-A1';
const A = '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8';

describe('docs/protocol.md', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    await host?.close();
    await service?.stop();
  });

  const [registration] = jsonOf(BLOCKS, 'registration');
  const operations = jsonOf(BLOCKS, 'operation');

  it('shows a registration that the service accepts, and its response', async () => {
    expect(registrationSchema.parse(registration).functions).to.have.length(1);
    const { status, body } = await service.post('/fn/register', registration, { 'x-service-sdk': 'js:v1.0.0' });
    expect([status, body]).to.deep.equal([200, jsonOf(BLOCKS, 'registered')[0]]);
    await service.request('DELETE', '/v1/apps/shop');
  });

  it('shows how fields without effect are reported', async () => {
    const [fn] = registration.functions;
    const given = { ...registration, functions: [{ ...fn, throttle: { limit: 1, period: '1m', smooth: true } }] };
    const { body } = await service.post('/fn/register', given, { 'x-service-sdk': 'js:v1.0.0' });
    expect(body).to.deep.equal(jsonOf(BLOCKS, 'unsupported')[0]);
    await service.request('DELETE', '/v1/apps/shop');
  });

  it('shows the exact body of a call after one finished step, and names every header of it', async () => {
    const [shown] = jsonOf(BLOCKS, 'call');
    const [memo] = Object.values(shown.steps) as { data: unknown }[];
    host.on('call', ({ number }) =>
      number > 0 ? {} : { status: 206, body: [{ id: A, op: 'StepRun', name: 'a', data: memo?.data }] },
    );
    await host.register(service, [{ id: 'call', triggers: [{ event: 'order/paid' }] }]);
    await service.post('/e/key', shown.event);
    await host.nextCall('call');
    const { body, raw, headers } = await host.nextCall('call');
    expect({ ...body, ctx: { ...body.ctx, run_id: shown.ctx.run_id } }).to.deep.equal(shown);
    expect(body.ctx.run_id).to.match(/^[0-9A-Z]{26}$/);
    expect(raw.toString()).to.equal(JSON.stringify(shown).replace(shown.ctx.run_id, body.ctx.run_id));
    for (const name of Object.keys(headers).filter((name) => /^(x-|trace)/.test(name))) {
      expect(PAGE, name).to.include(`\`${name.replace('x-service-', '')}\``);
    }
  });

  it('shows memos as a call carries them', async () => {
    const [shown] = jsonOf(BLOCKS, 'memos');
    const [ran, failed, asleep, waiting] = Object.keys(shown) as [string, string, string, string];
    const { name, data, ts } = shown[waiting];
    const begun = [
      { id: waiting, op: 'WaitForEvent', name },
      { id: ran, op: 'StepRun', data: shown[ran].data },
      { id: failed, op: 'StepFailed', error: shown[failed].error },
      { id: asleep, op: 'Sleep', name: '1ms' },
    ];
    host.on('memos', ({ body }) => {
      if (Object.keys(body.steps).length === begun.length) return { body: body.steps };
      return { status: 206, body: body.ctx.stack.current === 0 ? begun : [] };
    });
    await host.register(service, [{ id: 'memos', triggers: [{ event: 'docs/memos' }] }], { appName: 'memos' });
    const sent = await service.post('/e/key', { name: 'docs/memos', data: {} });
    await host.nextCall('memos');
    const { body } = await service.waitFor(
      `/v1/events/${sent.body.ids[0]}/runs`,
      ({ body }) => body.data?.length === 1,
    );
    await service.waitFor(`/v1/runs/${body.data[0].run_id}`, ({ body }) =>
      body.data.history.some(({ status }: { status: string }) => status === 'Waiting'),
    );
    await service.post('/e/key', { name, data, ts });
    const ended = await service.waitFor(`/v1/runs/${body.data[0].run_id}`, ({ body }) => body.data.ended_at);
    const { output } = ended.body.data;
    expect({ ...output, [waiting]: { ...output[waiting], id: shown[waiting].id } }).to.deep.equal(shown);
  });

  it('shows an error that fails a run, and the event that reports it', async () => {
    const [error] = jsonOf(BLOCKS, 'error');
    const [shown] = jsonOf(BLOCKS, 'failed');
    host.on('send-receipt', () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: error }));
    const triggers = [{ event: 'docs/fails' }];
    await host.register(service, [{ id: 'send-receipt', triggers }], { appName: 'shop' });
    await service.post('/e/key', { ...shown.event, name: 'docs/fails', id: `${EVENT_ID}-fails` });
    const path = '/v1/events?name=inngest/function.failed';
    const { body } = await service.waitFor(path, ({ body }) => body.data?.length > 0);
    const { data } = body.data[0];
    expect(data.error).to.deep.equal({ error: 'NonRetriableError', ...error });
    expect(data.result).to.deep.equal(error);
    expect(Object.keys(data)).to.have.members(Object.keys(shown));
    expect(data.function_id).to.equal(shown.function_id);
    expect(Object.keys(data.event)).to.have.members(Object.keys(shown.event));
    expect(data.events).to.deep.equal([data.event]);
  });

  it('shows a batch of logs that the service accepts', () => {
    const [batch] = jsonOf(BLOCKS, 'logs');
    expect(logBatchSchema.parse(batch)).to.deep.equal(batch);
  });

  it('shows a JSON frame of which the gateway reads every field, and names every kind with its number', () => {
    const [shown] = jsonOf(BLOCKS, 'frame');
    const { kind, read } = JSON_TEXT.readFrame(Buffer.from(JSON.stringify(shown)), false);
    expect(kind).to.equal(KIND.workerReply);
    expect(JSON.parse(JSON_TEXT.frame(kind, Reply, read(Reply)) as string).payload).to.include(shown.payload);
    for (const [name, number] of Object.entries(KIND)) expect(PAGE).to.include(`${number} \`${name}\``);
  });

  it('shows the source of an error as it is stored', () => {
    const [source] = jsonOf(BLOCKS, 'source');
    expect(readErrorSource(source)).to.deep.equal({ source });
  });

  it('shows a valid example of every operation', () => {
    const headings = [...PAGE.matchAll(/^### (\w+)$/gm)].map(([, heading]) => heading);
    for (const operation of operations) {
      expect(parseOps([operation]), operation.op)
        .to.deep.include({ refused: undefined })
        .with.property('ops')
        .of.length(1);
      expect(headings).to.include(operation.op);
    }
    const known = OPERATION_NAMES.filter((op) => op !== 'Step');
    expect(operations.map(({ op }) => op)).to.have.members(known);
    // Only of operations that the service knows are the fields checked.
    for (const op of OPERATION_NAMES)
      expect(parseOps([{ id: 'a', op, error: 1 }]).refused, op).to.include({ problem: 'invalid' });
  });

  it('shows the fields of the introspection response', async () => {
    const { Tidegate } = await import('tidegate');
    const app = await startApp(
      serve({ client: new Tidegate({ id: 'docs', isDev: true, baseUrl: service.url }), functions: [] }),
    );
    const { status, body } = await request('GET', app.url);
    await app.close();
    expect(status).to.equal(200);
    expect(Object.keys(body)).to.have.members(Object.keys(jsonOf(BLOCKS, 'introspection')[0]));
  });

  it('shows a correct hashed key and the status of a rejection', () => {
    const [, key = '', hashed] = /^ {4}(signkey-\S+)\n {4}→ Bearer (\S+)$/m.exec(PAGE) ?? [];
    expect(hashed).to.equal(hashedKey(key));
    const [{ code, status }] = jsonOf(BLOCKS, 'refusal');
    expect(CATALOGUE[code as keyof typeof CATALOGUE][0]).to.equal(status);
  });
});
