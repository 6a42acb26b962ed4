/** Serves `GET /metrics` on a port of its own, in web and worker. Uses plain node:http: the worker serves nothing else and loads no web framework. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Config, ConfigError } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { gracefulShutdown } from '../graceful-shutdown.ts';
import type { Logger } from '../log.ts';
import { bearerToken, sameSecret } from '../model/auth/secret.ts';
import { newId } from '../model/ids.ts';
import { createServer } from '../node-http.ts';
import type { ProcessMetrics } from './process-metrics.ts';

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/** Time for a scrape to finish at shutdown. */
const SHUTDOWN_GRACE_MS = 2_000;

/** @throws ConfigError when it cannot listen on the port */
export async function startMetricsServer(
  { host, metricsPort = 0, metricsToken }: Config,
  metrics: Pick<ProcessMetrics, 'contentType' | 'scrape'>,
  log: Logger,
): Promise<MetricsServer> {
  const server = createServer((request, response) => void respond(request, response));
  const close = gracefulShutdown(server, { drainMs: 0, graceMs: SHUTDOWN_GRACE_MS, endStreams: () => {} });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, metricsPort)));
    server.listen(metricsPort, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = newId();
    response.setHeader('x-request-id', requestId);
    try {
      const text = await scrape(request);
      response.setHeader('content-type', metrics.contentType).setHeader('cache-control', 'no-store').end(text);
    } catch (thrown) {
      const error = thrown instanceof ServiceError ? thrown : new ServiceError('internal', { cause: thrown });
      const { status, code, message, cause } = error;
      if (status >= 500) log.error({ request_id: requestId, code, err: cause }, message);
      else log.info({ request_id: requestId, code, status }, 'request rejected');
      // A request that is answered before it was read cannot be followed by another on its connection.
      if (!request.complete) response.setHeader('connection', 'close');
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify({ error: message, code, status }));
    }
  }

  /** @throws ServiceError not_found, credentials_invalid */
  function scrape({ method = '', url = '', headers }: IncomingMessage): Promise<string> {
    if (!/^(GET|HEAD)$/.test(method) || !/^\/metrics\/?(\?|$)/.test(url)) {
      throw new ServiceError('not_found', { detail: 'this port serves GET /metrics only' });
    }
    if (metricsToken !== undefined) checkMetricsToken(headers.authorization, metricsToken);
    return metrics.scrape();
  }
}

/** @throws ServiceError credentials_invalid */
export function checkMetricsToken(authorization: string | undefined, token: string): void {
  const given = bearerToken(authorization);
  if (given !== undefined && sameSecret(given, token)) return;
  throw new ServiceError('credentials_invalid', { detail: 'send "Authorization: Bearer <METRICS_TOKEN>"' });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const got = `METRICS_PORT: got ${port}, but this process cannot listen on ${host}:${port}`;
  if (error.code === 'EADDRINUSE') {
    return new ConfigError(
      `${got}: another process listens there. Give each web and worker process on a machine its own METRICS_PORT (0 selects any free port)`,
    );
  }
  return new ConfigError(`${got}: ${error.message}`);
}
