/** The app of Restate: a service with a handler for each function, over HTTP/2 as its SDK serves by default. */
import { createServer } from 'node:http2';
import { connectToSender, listen } from '../app.ts';
import { FUNCTION_NAMES, runSteps } from '../functions.ts';
import { requirePeer } from '../packages.ts';

interface Context {
  run<T>(id: string, work: () => Promise<T>): Promise<T>;
}
type Handler = (context: Context, input: { n: number }) => Promise<void>;
interface Restate {
  service(options: { name: string; handlers: Record<string, Handler> }): object;
  createEndpointHandler(options: { services: object[] }): Parameters<typeof createServer>[0] & (() => void);
}

const { service, createEndpointHandler } = requirePeer<Restate>('@restatedev/restate-sdk');
const ended = await connectToSender();
const handlers = FUNCTION_NAMES.map((name): [string, Handler] => [
  name,
  async (context, { n }) => {
    await runSteps(name, (id, work) => context.run(id, work));
    ended(n);
  },
]);
const services = [service({ name: 'peers', handlers: Object.fromEntries(handlers) })];
listen(createServer(createEndpointHandler({ services })));
