/** A program that hosts an app of the official TypeScript SDK: `node npm-host.ts <package> scenarios|features|streaming|connect <app>`. The major versions
 *  share one global, so each has a process of its own. It takes the service's address and keys as the SDK does (INNGEST_DEV, or
 *  INNGEST_BASE_URL with the keys), prints `{"url": …}` when it listens or is connected, and ends when its stdin does. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { featureFunctions } from './npm-features.ts';
import { scenarioFunctions } from './npm-scenarios.ts';
import type { CreateFunction } from './npm-types.ts';
import type { Loose } from './outside.ts';

const silent = { info() {}, warn() {}, error() {}, debug() {} };

const [name = '', kind = '', app = ''] = process.argv.slice(2);
// Version 3 has no deferred functions.
const experimental = name === 'inngest' ? await import(`${name}/experimental`) : {};
const sdk = { ...experimental, ...(await import(name)) };
const { serve } = await import(`${name}/node`);
const client = new sdk.Inngest({ id: app, logger: silent });
const functionsOf = kind === 'scenarios' || kind === 'connect' ? scenarioFunctions : featureFunctions;
const functions = functionsOf({ sdk, client, app, create });
const end = kind === 'connect' ? await connect() : await listen();
process.stdin.resume().once('end', () => void end().then(() => process.exit(0)));

/** @returns ends it */
async function listen(): Promise<() => Promise<void>> {
  const server = createServer(serve({ client, functions, streaming: kind === 'streaming' }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  say(`http://127.0.0.1:${port}/api/inngest`);
  return async () => {};
}

/** Opens a WebSocket instead. */
async function connect(): Promise<() => Promise<void>> {
  const { connect } = await import(`${name}/connect`);
  const connection = await connect({ apps: [{ client, functions }], handleShutdownSignals: [] });
  say('wss://connect');
  return () => connection.close();
}

function say(url: string): void {
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}

/** Version 3 takes the triggers as an argument of their own. */
function create(...[options, triggers, handler]: Parameters<CreateFunction>): Loose {
  return name === 'inngest-3'
    ? client.createFunction(options, triggers, handler)
    : client.createFunction({ ...options, triggers }, handler);
}
