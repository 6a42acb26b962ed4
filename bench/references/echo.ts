/** The reference for requests: a bare Koa server that parses a JSON body and returns it. */
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { koaBody } from 'koa-body';

const app = new Koa();
app.use(koaBody()).use((ctx) => {
  ctx.body = (ctx.request as unknown as { body: unknown }).body;
});
const server = app.listen(0, '127.0.0.1', () =>
  process.send?.({ ready: true, port: (server.address() as AddressInfo).port }),
);
process.once('disconnect', () => process.exit());
