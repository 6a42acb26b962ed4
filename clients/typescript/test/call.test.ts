import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type ClientOptions, type Logger, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { sign, signUrl } from '../src/signature.ts';
import { hashStepId } from '../src/steps/ids.ts';
import { useCleanEnv, useServers } from './servers.ts';

const SIGNING_KEY = 'signkey-test-0123456789abcdef';
const EVENTS = [
  { name: 'a', data: { n: 1 }, id: '01A', ts: 1 },
  { name: 'a', data: { n: 2 }, id: '01B', ts: 2 },
];
const TRIMMED = '{"ctx":{"attempt":0,"run_id":"01R","stack":{"current":0,"stack":[]}},"use_api":true,"version":-1}';

describe('A call with `use_api`', () => {
  useCleanEnv();
  const { listen, startService } = useServers();

  async function call(options: Partial<ClientOptions>, body = TRIMMED) {
    const client = new Tidegate({ id: 'shop', ...options });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, async ({ event, events, step }) => [
      event.data.n,
      events.length,
      await step.run('big', () => 'must not run'),
    ]);
    const url = await listen(serve({ client, functions: [fn] }));
    const at = Math.floor(Date.now() / 1_000);
    const headers = {
      'x-service-signature': sign(body, SIGNING_KEY, at),
      'x-service-signature-url': signUrl({ fnId: 'shop-fn', stepId: 'step' }, body, SIGNING_KEY, at),
    };
    const response = await fetch(`${url}?fnId=shop-fn&stepId=step`, { method: 'POST', body, headers });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  it('fetches events and steps from the service, with authentication', async () => {
    const asked: Record<string, string | undefined> = {};
    const baseUrl = await listen((req, res) => {
      asked[req.url ?? ''] = req.headers.authorization;
      res.end(JSON.stringify(req.url?.endsWith('/batch') ? EVENTS : { [hashStepId('big')]: { data: 'huge' } }));
    });
    const options = { isDev: false, baseUrl, signingKey: SIGNING_KEY };
    expect(await call(options)).to.deep.equal({ status: 200, body: [1, 2, 'huge'] });
    const hash = createHash('sha256').update(Buffer.from('0123456789abcdef', 'hex')).digest('hex');
    const proof = `Bearer signkey-test-${hash}`;
    expect(asked).to.deep.equal({ '/v0/runs/01R/batch': proof, '/v0/runs/01R/actions': proof });
  });

  it('fails the attempt if it cannot fetch them', async () => {
    const service = await startService({ status: 404, body: { error: 'no such run' } });
    const { status, body } = await call({ isDev: true, baseUrl: service.url });
    expect(status).to.equal(500);
    expect(body.message).to.include('state of run 01R').and.include('404');
  });
});

describe('The logger of a handler', () => {
  useCleanEnv();
  const { listen } = useServers();

  it('suppresses lines while the code replays earlier calls', async () => {
    const lines: unknown[] = [];
    const keep = (...args: unknown[]) => lines.push(args.join(' '));
    const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
    const client = new Tidegate({ id: 'shop', isDev: true, logger });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, async ({ step, logger }) => {
      logger.info('start');
      await step.run('one', () => logger.debug('in one'));
      logger.warn('between');
      await step.run('two', () => {});
      logger.error('end', 7);
    });
    const url = await listen(serve({ client, functions: [fn] }));
    const steps: Record<string, unknown> = {};
    for (const id of ['one', 'two', 'none']) {
      const ctx = { run_id: '01R', stack: { stack: Object.keys(steps) } };
      const body = JSON.stringify({ event: EVENTS[0], steps, ctx });
      await fetch(`${url}?fnId=shop-fn&stepId=step`, { method: 'POST', body });
      steps[hashStepId(id)] = { data: null };
    }
    expect(lines).to.deep.equal(['start', 'in one', 'between', 'end 7']);
  });
});
