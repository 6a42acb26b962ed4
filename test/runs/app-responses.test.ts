/** Responses of apps as the official SDKs send them, and errors as their apps expect them back. */
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { step } from './responses/cases/entry.ts';

const ERROR = {
  name: 'CardRefused',
  message: 'no',
  stack: 'CardRefused: no\n    at pay',
  cause: { name: 'Error', message: 'limit', cause: 'month' },
  data: { card: 'A1' },
  code: 'E_CARD',
};
// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Json = any;

const NO_SDK = { 'x-inngest-sdk': undefined };
const NO_RETRY = { 'x-inngest-no-retry': 'true' };

describe('Responses of apps', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { CALL_RESPONSE_MAX_BYTES: '8388608', RETRY_SCALE: '0.0001' } });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  /** Registers functions, each on the event `<app>/<id>`, and sends that of the first.
   *  @returns its run once it has ended */
  async function run(appName: string, ids: string[] = ['f']): Promise<Json> {
    const functions = ids.map((id) => ({ id, triggers: [{ event: `${appName}/${id}` }], retries: 1 }));
    await host.register(service, functions, { appName, dialect: 'inngest' });
    const { body } = await service.post('/e/key', { name: `${appName}/${ids[0]}`, data: {} });
    const path = `/v1/events/${body.ids[0]}/runs`;
    const runs = await service.waitFor(path, ({ body }) => body.data?.[0]?.ended_at);
    return (await service.get(`/v1/runs/${runs.body.data[0].run_id}`)).body.data;
  }

  const streamed = (envelope: object) => ({ status: 201, body: Buffer.from(`   \n ${JSON.stringify(envelope)}`) });

  it('a streamed response counts as the response in its envelope', async () => {
    const operations = JSON.stringify([{ id: step('a'), op: 'StepRun', name: 'a', data: 7 }]);
    host.on('f', ({ number, body }) => {
      if (number === 0) return streamed({ status: 206, headers: { 'Content-Type': 'x' }, body: operations });
      return streamed({ status: 200, headers: {}, body: JSON.stringify(body.steps[step('a')]) });
    });
    expect(await run('stream')).to.deep.include({ status: 'Completed', output: { data: 7 } });
  });

  it('a streamed response may have its body as JSON, and may forbid a retry there', async () => {
    host.on('f', ({ number }) => {
      if (number === 0) return streamed({ status: 206, body: [{ id: step('a'), op: 'StepRun', name: 'a' }] });
      return streamed({ status: 500, body: 'error calling function: no', noRetry: true, retryAt: null, headers: null });
    });
    const { status, attempt, error, output } = await run('stream-go');
    expect([status, attempt, error.message]).to.deep.equal(['Failed', 0, 'error calling function: no']);
    expect(output).to.equal('error calling function: no');
  });

  it('a streamed response that ends without an envelope is retried', async () => {
    host.on('f', ({ number }) =>
      number === 0 ? { status: 201, body: Buffer.from('   ') } : streamed({ status: 200, body: 'text' }),
    );
    expect(await run('stream-cut')).to.include({ status: 'Completed', attempt: 1, output: 'text' });
  });

  it('a 200 with text that is not JSON completes with the text', async () => {
    host.on('f', () => ({ body: Buffer.from('<html>hi</html>') }));
    expect(await run('text')).to.include({ status: 'Completed', output: '<html>hi</html>' });
  });

  it('a failure with a body that is not JSON has it as its message', async () => {
    host.on('f', () => ({ status: 500, headers: NO_RETRY, body: Buffer.from('panic: no such card') }));
    const { error, output } = await run('words');
    expect([error, output]).to.deep.equal([{ name: 'Error', message: 'panic: no such card' }, 'panic: no such card']);
  });

  it('a failure from something other than an app has its name, message and status as the output, with the beginning of the body', async () => {
    const page = `<html>${'Bad gateway '.repeat(10_000)}</html>`;
    const responses = [
      { status: 502, headers: NO_SDK, body: Buffer.from(page) },
      { status: 204, headers: NO_SDK },
      { status: 503, headers: NO_SDK, body: Buffer.from('') },
    ];
    host.on('f', ({ body }) => responses[Number(body.event.name.split('-')[1]?.[0])] ?? {});
    const [html, none, empty] = [await run('proxy-0'), await run('proxy-1'), await run('proxy-2')];
    expect(html.status).to.equal('Failed');
    expect(html.output).to.deep.equal({ ...html.error, status: 502 });
    expect(html.error.name).to.equal('AppError');
    expect(html.error.message).to.match(
      /status 502.* no sdk header; check the URL\. It begins with: <html>Bad gateway/,
    );
    expect(html.error.message.length).to.be.below(700);
    expect([none.status, none.error.name]).to.deep.equal(['Failed', 'AppError']);
    expect(empty.output).to.deep.equal({ ...empty.error, status: 503 });
  });

  it('a step that fails and forbids a retry fails permanently, whatever the status', async () => {
    host.on('f', ({ body }) => {
      const memo = body.steps[step('a')];
      if (memo) return { body: memo };
      return { status: 206, headers: NO_RETRY, body: [{ id: step('a'), op: 'StepError', name: 'a', error: ERROR }] };
    });
    const { status, output } = await run('no-retry');
    expect([status, host.calls('f').length]).to.deep.equal(['Completed', 2]);
    expect(output).to.deep.equal({ error: ERROR });
  });

  const ran = (name: string, data: unknown = name) => ({ id: step(name), op: 'StepRun', name, data });

  it('an operation without effect is skipped, and the others of its response apply', async () => {
    const nothing = { op: 'None', id: '', opts: null, data: null, error: null };
    host.on('f', ({ number, body }) =>
      number === 0 ? { status: 206, body: [ran('a'), nothing] } : { body: body.steps[step('a')] },
    );
    expect(await run('nothing')).to.deep.include({ status: 'Completed', attempt: 0, output: { data: 'a' } });
    expect(host.calls('f')).to.have.length(2);
  });

  for (const [what, refused, message] of [
    ['is no operation', { op: 'Sleep', id: 5 }, '1.id: expected a string'],
    ['has too large an output', ran('large', 'x'.repeat(4_194_305)), 'the output of step "large"'],
  ] as const) {
    it(`no step that finished beside a step that ${what} runs again`, async () => {
      host.on('f', ({ number, body }) =>
        number === 0 ? { status: 206, body: [ran('a'), refused, ran('b')] } : { body: Object.keys(body.steps).sort() },
      );
      const { status, output, history } = await run(`refused-${refused.op}`);
      expect([status, output]).to.deep.equal(['Completed', [step('a'), step('b')].sort()]);
      const failed = history.find(({ status }: { status: string }) => status === 'Failed');
      expect(failed.error.message).to.include(message);
      expect(host.calls('f').map(({ body }) => body.ctx.attempt)).to.deep.equal([0, 1]);
    });
  }

  it('a rejected operation in every response fails the run, even beside a step that is finished already', async () => {
    host.on('f', () => ({ status: 206, body: [ran('a'), { op: 'Sleep', id: 5 }] }));
    const { status, error } = await run('refused-always');
    expect([status, error.name]).to.deep.equal(['Failed', 'AppError']);
    expect(host.calls('f').map(({ body }) => body.ctx.attempt)).to.deep.equal([0, 1]);
  });

  it('an unsupported operation changes nothing, and the history shows it', async () => {
    host.on('f', ({ number }) => {
      if (number > 0) return { body: 'on' };
      return {
        status: 206,
        body: [
          { id: step('new'), op: 'Teleport', name: 'new', opts: { event: 1 } },
          { id: step('a'), op: 'StepRun', name: 'a' },
        ],
      };
    });
    const { status, history } = await run('unknown-op');
    expect(status).to.equal('Completed');
    const told = history.find(({ op }: { op: string }) => op === 'Teleport');
    expect(told).to.deep.include({ status: 'Failed', name: 'new' });
    expect(told.error.name).to.equal('UnsupportedOperation');
  });

  it('step IDs may be any text in calls, memos, sleeps, waits and invocations', async () => {
    const ids = ['%$^&*(_+{|:<?☃️', 'a/b?c=d&e', '1', '__proto__'] as const;
    host.on('f', ({ stepId, body }) => {
      if (stepId !== 'step') return { status: 206, body: [{ id: stepId, op: 'StepRun', name: 's', data: stepId }] };
      if (body.ctx.stack.stack.length === ids.length) return { body: body.steps };
      return {
        status: 206,
        body: [
          { id: ids[0], op: 'StepPlanned', name: 's' },
          { id: ids[1], op: 'Sleep', name: '1ms', opts: { duration: '' } },
          { id: ids[2], op: 'WaitForEvent', name: 'never/sent', opts: { event: '', timeout: '1ms' } },
          { id: ids[3], op: 'InvokeFunction', name: 's', opts: { function_id: 'any-ids-g' } },
        ].filter(({ id }) => !body.ctx.stack.stack.includes(id)),
      };
    });
    host.on('g', () => ({ body: 'g' }));
    const { status, output } = await run('any-ids', ['f', 'g']);
    expect(status).to.equal('Completed');
    expect(JSON.stringify(output)).to.include('"__proto__":{"data":"g"}');
    expect(output).to.deep.include({ [ids[0]]: { data: ids[0] }, [ids[1]]: null, [ids[2]]: null });
  });

  it('the error of a failed run keeps cause, data, code and stack for its handlers and in the API', async () => {
    host.on('f', () => ({ status: 400, headers: NO_RETRY, body: { ...ERROR, __serialized: true } }));
    const { status, error, output, run_id } = await run('whole-error');
    expect(status).to.equal('Failed');
    expect(error).to.deep.equal(ERROR);
    expect(output).to.deep.equal(ERROR);
    const isOfRun = ({ data }: { data: { run_id: string } }) => data.run_id === run_id;
    const { body } = await service.waitFor('/v1/events?name=inngest/function.failed', ({ body }) =>
      body.data?.some(isOfRun),
    );
    const { data } = body.data.find(isOfRun);
    expect(data.error).to.deep.equal({ error: 'NonRetriableError', ...ERROR });
    expect(data.result).to.deep.equal(ERROR);
    expect(data._inngest).to.deep.equal({ status: 'Failed' });
  });

  it('the error of an invalid wait expression has the message that apps check for, and its position in the stack', async () => {
    const opts = { event: 'x', if: 'event.data.a === async.data.a', timeout: '1h' };
    host.on('f', () => ({ status: 206, body: [{ op: 'WaitForEvent', id: step('w'), displayName: 'w', opts }] }));
    const { error, output } = await run('no-cel');
    const message = 'Wait for event If expression failed to compile';
    expect(output.error).to.include({ error: `InvalidExpression: ${message}`, name: 'InvalidExpression', message });
    expect(output.error.stack).to.equal(`error compiling expression: ${error.message}`);
    expect(error.message).to.include('step "w" has an invalid "if"');
  });

  it('the output of a failed run is the error exactly as sent: without a name if it has none', async () => {
    host.on('f', () => ({ status: 500, body: { message: 'oh no', code: 'unknown', stack: null } }));
    const { error, output } = await run('no-name');
    expect(error).to.deep.equal({ name: 'Error', message: 'oh no', code: 'unknown' });
    expect(output).to.deep.equal({ message: 'oh no', code: 'unknown', stack: null });
  });

  it('an error with endless causes is truncated', async () => {
    let cause: object = { message: 'm'.repeat(100_000) };
    for (let i = 0; i < 50; i++) cause = { name: 'E', message: 'x'.repeat(50_000), stack: 's'.repeat(50_000), cause };
    host.on('f', () => ({ status: 400, headers: NO_RETRY, body: { name: 'E', message: 'm', cause } }));
    const { error } = await run('causes');
    expect(JSON.stringify(error).length).to.be.within(10_000, 100_000);
    expect(error.cause.cause.cause.message).to.match(/^x+… \(50000 characters in total\)$/);
  });

  it('an invocation fails with the error of the invoked function, or with a message that apps check for', async () => {
    const invoke = (id: string, functionId: string, timeout?: string) => ({
      id: step(id),
      op: 'InvokeFunction',
      name: id,
      opts: { function_id: functionId, payload: { data: { n: 1 } }, timeout },
    });
    host.on('f', ({ body }) => {
      if (body.ctx.stack.stack.length === 3) return { body: body.steps };
      if (body.ctx.stack.stack.length > 0) return { status: 206, body: [] };
      const all = [invoke('fails', 'invoking-g'), invoke('late', 'invoking-h', '10ms'), invoke('gone', 'nobody')];
      return { status: 206, body: all };
    });
    host.on('g', () => ({ status: 400, headers: NO_RETRY, body: ERROR }));
    host.on('h', () => ({ status: 206, body: [{ id: step('s'), op: 'Sleep', name: '1h' }] }));
    const { output, run_id, history } = await run('invoking', ['f', 'g', 'h']);
    expect(output[step('fails')]).to.deep.equal({ error: ERROR });
    expect(output[step('late')].error).to.deep.equal({
      name: 'InngestInvokeTimeoutError',
      message: 'Timed out waiting for invoked function to complete',
    });
    const ends = history.flatMap((entry: Json) =>
      entry.op === 'InvokeFunction' ? [[entry.name, entry.timed_out]] : [],
    );
    expect(Object.fromEntries(ends)).to.deep.equal({ fails: false, late: true, gone: false });
    expect(output[step('gone')].error).to.deep.equal({
      name: 'Error',
      message: 'could not find function with ID: nobody',
    });
    const [call] = host.calls('g');
    expect(call?.body.event.name).to.equal('inngest/function.invoked');
    expect(call?.body.event.data).to.deep.equal({
      n: 1,
      _inngest: {
        fn_id: 'invoking-g',
        correlation_id: `${run_id}.${step('fails')}`,
        name: 'fails',
        source_fn_id: 'invoking-f',
      },
    });
  });
});
