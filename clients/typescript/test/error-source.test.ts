import { expect } from 'chai';
import { type ClientOptions, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { sourceOf } from '../src/error-source.ts';
import { hashStepId } from '../src/steps/ids.ts';
import { useCleanEnv, useServers } from './servers.ts';

const FILE = 'clients/typescript/test/error-source.test.ts';

function refuse(): never {
  throw new Error('card refused');
}

describe('The source of an error', () => {
  useCleanEnv();
  const { listen } = useServers();

  async function call(inStep: boolean, options: Partial<ClientOptions> = {}, steps: object = {}) {
    const client = new Tidegate({ id: 'shop', isDev: true, ...options });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, ({ step }) =>
      inStep ? step.run('charge', refuse) : refuse(),
    );
    const url = await listen(serve({ client, functions: [fn] }));
    const body = JSON.stringify({ ctx: { run_id: '01R' }, event: { name: 'a', data: {} }, steps });
    const response = await fetch(`${url}?fnId=shop-fn&stepId=step`, { method: 'POST', body });
    return JSON.parse(await response.text());
  }

  it('has the line of the app that threw it, and two before and after it', async () => {
    const { source } = await call(false);
    expect(source.file).to.equal(FILE);
    expect(source.lines.map(({ text }: { text: string }) => text)).to.deep.equal([
      '',
      'function refuse(): never {',
      "  throw new Error('card refused');",
      '}',
      '',
    ]);
    expect(source.lines[2].line).to.equal(source.line);
  });

  it('is also sent for a step that fails', async () => {
    const [{ error }] = await call(true);
    expect(error.source.lines[2].text).to.include("throw new Error('card refused')");
  });

  it('is that of the step, and so is the stack, when a step that failed permanently ends the run', async () => {
    const [{ error }] = await call(true);
    const failed = await call(true, {}, { [hashStepId('charge')]: { error } });
    expect(failed.stack).to.equal(error.stack).and.to.include('refuse');
    expect(failed.source).to.deep.equal(error.source);
  });

  it('is not sent if the client disables it', async () => {
    expect(await call(false, { errorSource: false })).not.to.have.property('source');
    process.env.SERVICE_ERROR_SOURCE = '0';
    expect((await call(true))[0].error).not.to.have.property('source');
  });

  it('leaves out frames of packages and of the runtime', () => {
    const frames = [
      'at pay (/app/node_modules/cards/index.js:1:1)',
      'at process.processTicksAndRejections (node:internal/process/task_queues:104:5)',
      `at async run (${import.meta.url}:1:1)`,
    ];
    expect(sourceOf(`Error: no\n${frames.map((frame) => `    ${frame}`).join('\n')}`)).to.deep.include({
      file: FILE,
      line: 1,
    });
  });

  it('is absent if the file cannot be read or the stack has an unknown format', () => {
    for (const stack of [
      '',
      'Error: no',
      'Error: no\n    at f (/nowhere.js:1:1)',
      'x@http://a/b.js:1:2',
      undefined,
      7,
    ]) {
      expect(sourceOf(stack), String(stack)).to.equal(undefined);
    }
    expect(sourceOf(`Error\n    at f (${import.meta.url}:99999:1)`)).to.equal(undefined);
  });
});
