/** A program that hosts an app of the official TypeScript SDK: `node npm-host.ts <package> scenarios|features|streaming <app>`. The major versions
 *  share one global, so each has a process of its own. It takes the service's address and keys as the SDK does (INNGEST_DEV, or
 *  INNGEST_BASE_URL with the keys), prints `{"url": …}` when it listens, and ends when its stdin does. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { featureFunctions } from './npm-features.ts';
import { scenarioFunctions } from './npm-scenarios.ts';
import type { Loose } from './outside.ts';

/** Creates a function. */
export type CreateFunction = (
  options: { id: string } & Record<string, unknown>,
  triggers: object[],
  handler: (args: Loose) => Promise<unknown>,
) => Loose;

export interface NpmApp {
  /** The package's exports. */
  sdk: Loose;
  client: Loose;
  /** Its id. */
  app: string;
  create: CreateFunction;
}

const silent = { info() {}, warn() {}, error() {}, debug() {} };

const [name = '', kind = '', app = ''] = process.argv.slice(2);
const sdk = await import(name);
const { serve } = await import(`${name}/node`);
const client = new sdk.Inngest({ id: app, logger: silent });
const functionsOf = kind === 'scenarios' ? scenarioFunctions : featureFunctions;
const functions = functionsOf({ sdk, client, app, create });
const server = createServer(serve({ client, functions, streaming: kind === 'streaming' }));

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/api/inngest` })}\n`);
});
process.stdin.resume().once('end', () => process.exit(0));

/** Version 3 takes the triggers as an argument of their own. */
function create(...[options, triggers, handler]: Parameters<CreateFunction>): Loose {
  return name === 'inngest-3'
    ? client.createFunction(options, triggers, handler)
    : client.createFunction({ ...options, triggers }, handler);
}
