/** The TypeScript part of versions.test.ts, with the official SDK or our client: `node versions-host.ts inngest|tidegate <app>`, an app of one version
 *  (TEST_VERSION). Takes the service's address as the SDK does, prints `{"url": …}` when it listens, and ends when its stdin does. Its functions put out which
 *  version ran their first and their last step: `waits`, on `<app>/start`, for `<app>/go`; `naps`, on `<app>/nap`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: two packages
type Loose = any;

const [name = '', app = ''] = process.argv.slice(2);
const version = process.env.TEST_VERSION;
const { Inngest, Tidegate } = await import(name);
const { serve } = await import(`${name}/node`);
const silent = { info() {}, warn() {}, error() {}, debug() {} };
const options = { id: app, logger: silent, appVersion: version };
const client: Loose = Tidegate ? new Tidegate({ ...options, versioning: 'pinned' }) : new Inngest(options);

const create = (id: string, event: string, between: (step: Loose) => Promise<unknown>) =>
  client.createFunction({ id, triggers: [{ event: `${app}/${event}` }] }, async ({ step }: Loose) => {
    const first = await step.run('first', () => version);
    await between(step);
    return { first, last: await step.run('last', () => version) };
  });
const functions = [
  create('waits', 'start', (step) => step.waitForEvent('go', { event: `${app}/go`, timeout: '1h' })),
  create('naps', 'nap', (step) => step.sleep('nap', '30m')),
];
const server = createServer(serve({ client, functions }));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const path = Tidegate ? '/api/service' : '/api/inngest';
process.stdout.write(
  `${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` })}\n`,
);
process.stdin.resume().once('end', () => process.exit(0));
