/** The web process: accepts events and webhooks, and serves the API. Any number of them may run; any may die at any
 *  time. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { prepareFirstAdmin } from '../api/auth/first-admin.ts';
import { reencryptSecrets } from '../api/auth/reencrypt-secrets.ts';
import { CLOSE_MS } from '../api/connect/limits.ts';
import { enforceDeadlines } from '../api/http/request-deadline.ts';
import { isWebSocketUpgrade } from '../api/http/web-sockets.ts';
import { type Config, portProblem } from '../config.ts';
import { gracefulShutdown } from '../graceful-shutdown.ts';
import { TELEMETRY_DUTIES } from '../jobs/telemetry/duties.ts';
import { newId } from '../model/ids.ts';
import { describeOutbound } from '../model/network/outbound.ts';
import { createServer } from '../node-http.ts';
import { durabilityOf } from '../store/redis/durability/durability.ts';
import { ALERTS } from './alerts.ts';
import { baseParts } from './base.ts';
import { Container } from './container.ts';
import { type Core, startCore } from './core.ts';
import { INGESTION } from './ingestion.ts';
import type { Opened } from './opened.ts';
import { RUN_SERVICES } from './runs.ts';
import { SELECTION } from './selection.ts';
import { type Ending, type Running, type Starting, type StartOptions, startOrFail } from './start-options.ts';
import { setWebGauges, WEB, type WebParts } from './web.ts';
import { CONNECTION_DUTIES, DISCOVERY_DUTIES, WEB_DUTIES } from './web-duties.ts';
import { openWebStore, type WebStore } from './web-store.ts';

/** Longer than the idle timeout of routers and load balancers in front, so that they, and not this server, close connections. */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_TIMEOUT_MS = 60_000;
const FIRST_READ_MS = 2_000;

/** Starts settings and metrics first, then Redis and the data read from it, then the HTTP server, then the duties. @throws ConfigError if a
 *  setting, or what it refers to, prevents the start */
export function startWeb(options: StartOptions): Promise<Running> {
  return startOrFail(start, options);
}

async function start(options: StartOptions & Starting): Promise<Running> {
  const { config, log, group, onClosable, opened } = options;
  const isFirst = (group?.number ?? 1) === 1;
  if (isFirst) {
    log.info({ outbound: describeOutbound(config.outbound) }, 'where apps may be called');
    if (config.dev) log.warn('dev mode: no authentication; not for production');
  }
  const core = await startCore('web', options);
  const webStore = opened.add(openWebStore(core, options.fail));
  opened.add(webStore.transforms);
  if (core.metricsServer) opened.add(core.metricsServer);
  // The process also starts without Redis, and /readyz says so.
  await Promise.race([webStore.firstReads, setTimeout(FIRST_READ_MS)]);
  const web = await compose(core, webStore, opened);
  const server = createWebServer(web);
  const { shutdownDrainMs: drainMs, shutdownGraceMs: graceMs } = config;
  const endStreams = () => {
    for (const part of [web.liveStreams, web.realtime, web.webSockets]) part.close();
    void web.gateway.drain(Math.max(0, graceMs - drainMs - CLOSE_MS));
  };
  const closeServer = gracefulShutdown(server, { drainMs, graceMs, endStreams });
  const { store, secretKeyClaimed } = webStore;
  const { duties } = web;
  const reporting = {
    telemetry: web.telemetry,
    processes: store.processes,
    processId: newId(),
    kind: core.kind,
    status: () => ({}),
  };
  opened.add(duties.start(TELEMETRY_DUTIES, reporting));
  opened.add(duties.start(CONNECTION_DUTIES, web));
  web.gateway.start();
  opened.add(web.gateway);
  const close = async ({ isReplaced }: Ending = { isReplaced: false }) => {
    // A health check of a replaced process would reach its successor.
    if (!isReplaced) web.readiness.shutDown();
    web.gateway.refuseConnections();
    await closeServer({ isReplaced });
    // Finishes the work of requests, sends the last telemetry, disconnects.
    await opened.close();
  };
  onClosable?.(close);
  const socket = group ? await group.listeningSocket() : { port: config.port, host: config.host };
  const port = await listen(server, socket, config);
  opened.add({ close: () => server.close().closeAllConnections() });
  const address = config.publicUrl ?? `http://${config.host === '0.0.0.0' ? 'localhost' : config.host}:${port}`;
  if (isFirst) await Promise.race([prepareFirstAdmin(config, store, address, log), setTimeout(FIRST_READ_MS)]);
  secretKeyClaimed.then(
    () => reencryptSecrets(config, store, log),
    // Reported as a failure.
    () => undefined,
  );
  opened.add(duties.start(WEB_DUTIES, web));
  if (isFirst) opened.add(duties.start(DISCOVERY_DUTIES, { discovery: web.discovery, port }));
  duties.logStarted();
  return { ports: { port, ...(core.metricsServer && { metricsPort: core.metricsServer.port }) }, duties, close };
}

/** @throws ConfigError if Redis is less durable than INGEST_DURABILITY demands */
async function compose(core: Core, { store, close: _, ...shared }: WebStore, opened: Opened) {
  const { config, log } = core;
  const durability = await durabilityOf(config, { ...store, queueRedis: store.redis }, log);
  if (durability) opened.add(durability);
  const queueOptions = { connection: store.redis, skipVersionCheck: true };
  const base = baseParts(core, store);
  if (base.archive) opened.add(base.archive.database);
  const container = new Container({ ...base, ...shared, queueOptions, durability })
    .with(INGESTION)
    .with(RUN_SERVICES)
    .with(SELECTION)
    .with(ALERTS)
    .with(WEB);
  const { parts } = opened.add(container);
  setWebGauges(parts);
  return parts;
}

function createWebServer(web: Pick<WebParts, 'app' | 'webSockets'>): Server {
  const serve = web.app.callback();
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: 0,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    serve,
  );
  enforceDeadlines(server);
  web.webSockets.attach(server, serve);
  return server;
}

/** @param socket the supervisor's socket, or where to listen
 *  @returns the port */
async function listen(server: Server, socket: object, config: Config): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(portProblem(error, config)));
    server.listen(socket, resolve);
  });
  return (server.address() as AddressInfo).port;
}
