/** A port of a process's own, for nothing but `GET /metrics`: what web and worker tell those who run them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { type Config, ConfigError } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Instruments } from '../instruments/instruments.ts';
import type { Logger } from '../log.ts';
import { funnelErrors, identify } from './funnel.ts';
import { metricsDoor } from './metrics-door.ts';
import { endingOf } from './server-end.ts';

export interface MetricsPort {
  port: number;
  close(): Promise<void>;
}

/** Whoever reads the metrics may read them once more. */
const LAST_ANSWER_MS = 2_000;

/** @throws ConfigError when it cannot listen there */
export async function openMetricsPort(
  { host, metricsPort = 0, metricsToken }: Config,
  instruments: Instruments,
  log: Logger,
): Promise<MetricsPort> {
  const app = new Koa();
  app.on('error', (error: Error) => log.debug({ err: error.message }, 'connection'));
  app.use(identify).use(funnelErrors(log)).use(metricsDoor(instruments, metricsToken));
  app.use(() => {
    throw new ServiceError('not_found', { detail: 'this port answers GET /metrics and nothing else' });
  });
  const server = createServer(app.callback());
  const close = endingOf(server, { drainMs: 0, graceMs: LAST_ANSWER_MS, endStreams: () => {} });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, host, metricsPort)));
    server.listen(metricsPort, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close };
}

function explained(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const got = `METRICS_PORT: got ${port}, and this process cannot listen on ${host}:${port}`;
  if (error.code === 'EADDRINUSE') {
    return new ConfigError(
      `${got}: another process does. Each web and each worker on a machine needs a METRICS_PORT of its own (0: any that is free)`,
    );
  }
  return new ConfigError(`${got}: ${error.message}`);
}
