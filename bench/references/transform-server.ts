/** The reference for webhooks: a bare Koa server that passes each JSON body to the transform in another process, because users wrote its code, and
 *  returns the event. It checks nothing and stores nothing. */
import { fork } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { KIND } from '../payloads.ts';

const headers = { 'Content-Type': 'application/json', 'X-Kind': KIND['x-kind'] };
const waiting = new Map<number, (event: string) => void>();
let last = 0;

const transforms = fork(join(import.meta.dirname, 'transform-process.ts'), { execArgv: ['--no-node-snapshot'] });
transforms.on('message', ([id, event]: [number, string]) => {
  waiting.get(id)?.(event);
  waiting.delete(id);
});
const app = new Koa();
app.use(koaBody()).use(async (ctx) => {
  const { body } = ctx.request as unknown as { body: unknown };
  const id = ++last;
  const event = new Promise<string>((resolve) => waiting.set(id, resolve));
  transforms.send([id, JSON.stringify([body, headers])]);
  ctx.body = JSON.parse(await event);
});
const server = app.listen(0, '127.0.0.1', () =>
  process.send?.({ ready: true, port: (server.address() as AddressInfo).port }),
);
// Its disconnection ends the other process.
process.once('disconnect', () => process.exit());
