/** A program that hosts the functions of shapes.ts: `node host.ts <package> <app> <number of functions> <changes>`. The package is `tidegate`, `inngest` or
 *  `inngest-3`; changes is JSON, number of a function → change. It takes address and keys from WHAT_IF_SERVICE and WHAT_IF_KEYS (JSON), prints
 *  `{"url": …}` when it listens, responds to GET /executions with the number of steps that have run and of calls that had the what-if header, and ends when its
 *  stdin does. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Change, handlerOf } from './shapes.ts';

const [name = '', app = '', count = '1', changes = '{}'] = process.argv.slice(2);
const baseUrl = process.env.WHAT_IF_SERVICE as string;
const { eventKey, signingKey } = JSON.parse(process.env.WHAT_IF_KEYS ?? '{}');
const changeOf: Record<string, Change> = JSON.parse(changes);
const ofOfficial = name !== 'tidegate';
const silent = { info() {}, warn() {}, error() {}, debug() {} };
let [executions, whatIfCalls] = [0, 0];

const { serve } = await import(`${name}/node`);
const client = await createClient();
const functions = Array.from({ length: Number(count) }, (_, n) => n)
  .filter((n) => changeOf[n] !== 'gone')
  .map((n) => {
    const onRun = () => {
      executions++;
    };
    const handler = handlerOf(n, { change: changeOf[n], onRun });
    const triggers = [{ event: `what-if/${n}` }];
    if (name === 'inngest-3') return client.createFunction({ id: `f${n}` }, triggers, handler);
    return client.createFunction({ id: `f${n}`, triggers }, handler);
  });
const server = createServer((request, response) => {
  if (request.url === '/executions') {
    response.end(JSON.stringify({ executions, whatIfCalls }));
    return;
  }
  if (request.headers[`x-${ofOfficial ? 'inngest' : 'service'}-what-if`] === '1') whatIfCalls++;
  handle(request, response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const path = ofOfficial ? '/api/inngest' : '/api/app';
const handle = serve({ client, functions, ...(ofOfficial ? { signingKey } : { path, serveOrigin: origin }) });
process.stdout.write(`${JSON.stringify({ url: origin + path })}\n`);
process.stdin.resume().once('end', () => process.exit(0));

async function createClient() {
  if (ofOfficial) {
    const { Inngest } = await import(name);
    return new Inngest({ id: app, logger: silent, isDev: signingKey === undefined, baseUrl, eventKey, signingKey });
  }
  const { Tidegate } = await import('tidegate');
  return new Tidegate({ id: app, logger: silent, isDev: signingKey === undefined, baseUrl, eventKey, signingKey });
}
