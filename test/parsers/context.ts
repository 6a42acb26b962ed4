/** A Koa context of a request with these headers, for header parsers. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa, { type Context } from 'koa';

const app = new Koa({ proxy: true, maxIpsCount: 1 });

export function contextWith(headers: Record<string, string>): Context {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  request.url = '/';
  return (
    app as unknown as { createContext(request: IncomingMessage, response: ServerResponse): Context }
  ).createContext(request, new ServerResponse(request));
}
