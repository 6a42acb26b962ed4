/** Logs of a function, where the platform stops the process with the response. */
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Logger, Tidegate } from 'tidegate';
import { serve as serveFetch } from 'tidegate/fetch';
import { type LambdaEvent, type LambdaResult, serve as serveLambda } from 'tidegate/lambda';
import { functionUrlEvent, httpEvent, loadBalancerEvent, overLambda, restEvent } from './over-lambda.ts';
import { ExecutionContext, PLATFORMS } from './platforms.ts';
import { useCleanEnv, useServers } from './servers.ts';

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
const PATH = '/api/service?fnId=shop-fn&stepId=step';
const BODY = JSON.stringify({ ctx: { run_id: '01R', logs: true }, event: { name: 'a', data: {} }, steps: {} });

function logging(baseUrl: string) {
  const client = new Tidegate({ id: 'shop', isDev: true, logger: SILENT, baseUrl });
  const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, ({ logger }) => {
    logger.info('one');
    return 'done';
  });
  return { client, functions: [fn] };
}

const call = () => new Request(`https://shop.example${PATH}`, { method: 'POST', body: BODY });
const messages = (body: string) => JSON.parse(body).lines.map(({ message }: { message: string }) => message);

describe('The log of a function', () => {
  useCleanEnv();
  const { listen, startService, deadUrl } = useServers();

  for (const [name, ask] of Object.entries(PLATFORMS)) {
    it(`still reaches the service after the response: ${name}`, async () => {
      const [responded, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
      const url = await listen(async (req, res) => {
        const body = await text(req);
        // The service waits for the app's response: it would wait for ever if that waited for the service.
        await responded.promise;
        res.end('{}');
        arrived.resolve(body);
      });
      const context = new ExecutionContext();
      const response = await ask(logging(url), call(), context);
      expect([response.status, await response.text()]).to.deep.equal([200, '"done"']);
      expect(context.work).to.have.lengthOf(1);
      responded.resolve();
      await Promise.all(context.work);
      expect(messages(await arrived.promise)).to.deep.equal(['one']);
    });
  }

  it('fails no run when the platform fails', async () => {
    const service = await startService({ body: {} });
    const context = {
      waitUntil() {
        throw new Error('too late');
      },
    };
    const response = await serveFetch(logging(service.url))(call(), context);
    expect([response.status, await response.text()]).to.deep.equal([200, '"done"']);
  });

  describe('on AWS Lambda', () => {
    const { setTimeout } = globalThis;
    const LONG_MS = 60_000;
    beforeEach(() => {
      process.env.AWS_LAMBDA_FUNCTION_NAME = 'fn';
      // The response waits for a second at most, which a busy machine may take for nothing.
      globalThis.setTimeout = ((run: () => void, ms?: number) =>
        setTimeout(run, ms === 1_000 ? LONG_MS : ms)) as typeof setTimeout;
    });
    afterEach(() => {
      delete process.env.AWS_LAMBDA_FUNCTION_NAME;
      globalThis.setTimeout = setTimeout;
    });

    const FRONTS = { restEvent, httpEvent, functionUrlEvent, loadBalancerEvent };
    for (const [name, eventOf] of Object.entries(FRONTS)) {
      it(`has arrived when the handler returns, since nothing runs afterwards: ${name}`, async () => {
        const service = await startService({ body: {} });
        const handler = serveLambda(logging(service.url));
        let arrived: string[] = [];
        const freezing = async (event: LambdaEvent): Promise<LambdaResult> => {
          const result = await handler(event);
          arrived = service.requests.map(({ body }) => body);
          return result;
        };
        const url = await listen(overLambda(freezing, eventOf));
        const response = await fetch(`${url}${PATH}`, { method: 'POST', body: BODY });
        expect([response.status, await response.text()]).to.deep.equal([200, '"done"']);
        expect(messages(arrived[0] ?? '{"lines":[]}')).to.deep.equal(['one']);
      });
    }

    it('has arrived when a framework adapter responds, since its waitUntil does nothing there', async () => {
      const service = await startService({ body: {} });
      const response = await serveFetch(logging(service.url))(call(), { waitUntil() {} });
      expect([response.status, messages(service.requests[0]?.body ?? '{"lines":[]}')]).to.deep.equal([200, ['one']]);
    });

    it('does not hold back the response when the service cannot be reached', async () => {
      const response = await serveFetch(logging(await deadUrl()))(call());
      expect([response.status, await response.text()]).to.deep.equal([200, '"done"']);
    });
  });
});
