/** The lines of code that apps send with errors. */
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { step } from './responses/cases/entry.ts';

const SOURCE = { file: 'src/pay.ts', line: 12, lines: [{ line: 12, text: "  throw new Error('card refused');" }] };
const ERROR = { name: 'Error', message: 'card refused', stack: 'Error: card refused\n    at pay (src/pay.ts:12:9)' };

describe('The source of an error', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0001' } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  /** @returns the ended run of a function that fails with this error */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async function failWith(id: string, error: unknown): Promise<any> {
    host.on(id, () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: error }));
    await host.register(service, [{ id, triggers: [{ event: id }] }], { appName: `app-${id}` });
    return runOf(id);
  }

  async function runOf(event: string) {
    const { body } = await service.post('/e/key', { name: event, data: {} });
    const path = `/v1/events/${body.ids[0]}/runs`;
    const runs = await service.waitFor(path, ({ body }) => body.data?.[0]?.ended_at);
    return (await service.get(`/v1/runs/${runs.body.data[0].run_id}`)).body.data;
  }

  it('is shown with the error of the run and of the attempt, but is not part of its output', async () => {
    const { error, output, history } = await failWith('shown', { ...ERROR, source: SOURCE });
    expect(error).to.deep.equal({ ...ERROR, source: SOURCE });
    expect(output).to.deep.equal(ERROR);
    // biome-ignore lint/suspicious/noExplicitAny: of the history
    expect(history.find((entry: any) => entry.error).error.source).to.deep.equal(SOURCE);
  });

  it('is not returned to the app, neither in memos nor in failure events', async () => {
    const error = { ...ERROR, source: SOURCE };
    host.on('memo', ({ number }) =>
      number === 0
        ? { status: 206, body: [{ id: step('a'), op: 'StepFailed', name: 'a', error }] }
        : { status: 400, headers: { 'x-service-no-retry': 'true' }, body: error },
    );
    const failure = { event: 'inngest/function.failed', expression: 'event.data.function_id == "back-memo"' };
    const functions = [
      { id: 'memo', triggers: [{ event: 'memo' }] },
      { id: 'on-failure', triggers: [failure] },
    ];
    await host.register(service, functions, { appName: 'back' });
    await runOf('memo');
    expect(host.calls('memo').at(-1)?.body.steps[step('a')]).to.deep.equal({ error: ERROR });
    const { body } = await host.nextCall('on-failure');
    expect(body.event.data.error).to.deep.include(ERROR).and.not.have.property('source');
    expect(body.event.data.result).to.deep.equal(ERROR);
  });

  it('is limited to seven lines of 200 characters, and a file name of 500', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => ({ line: i + 1, text: 'x'.repeat(10_000), more: 'y' }));
    const { error } = await failWith('bounded', { ...ERROR, source: { file: 'f'.repeat(5_000), line: 3, lines } });
    expect(error.source.file).to.have.lengthOf(500);
    expect(error.source.lines).to.have.lengthOf(7);
    expect(error.source.lines[6]).to.deep.equal({ line: 7, text: 'x'.repeat(200) });
  });

  const OTHERS: Record<string, unknown> = {
    text: 'src/pay.ts:12',
    'file-number': { ...SOURCE, file: 7 },
    'line-text': { ...SOURCE, line: '12' },
    'line-negative': { ...SOURCE, line: -1 },
    'no-lines': { ...SOURCE, lines: [] },
    'lines-text': { ...SOURCE, lines: 'throw' },
    'lines-of-text': { ...SOURCE, lines: ['throw', null, { line: 1 }] },
  };
  for (const [id, source] of Object.entries(OTHERS)) {
    it(`of another shape is dropped, and the error is kept (${id})`, async () => {
      const { error } = await failWith(id, { ...ERROR, source });
      expect(error).to.deep.equal(ERROR);
    });
  }
});
