/** The web process: accepts events and webhooks, and serves the API. Any number of them may run; any may die at any
 *  time. */
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { prepareFirstAdmin } from './api/auth/first-admin.ts';
import { reencryptSecrets } from './api/auth/reencrypt-secrets.ts';
import { enforceDeadlines } from './api/http/request-deadline.ts';
import { isWebSocketUpgrade } from './api/http/web-sockets.ts';
import { startCore } from './composition/core.ts';
import { createWeb, openWebStore } from './composition/web.ts';
import { gracefulShutdown } from './graceful-shutdown.ts';
import { startTelemetry } from './jobs/telemetry/telemetry.ts';
import { createLog } from './log.ts';
import { describeOutbound } from './model/network/outbound.ts';
import { createServer } from './node-http.ts';
import { acceptSignals, configOrExit, type Ending, exitForPort, exitForSettings, reportReady } from './process.ts';
import { isFirstProcess, isSupervised, listeningSocket, processNumber } from './supervision/supervised.ts';

/** Longer than the idle timeout of routers and load balancers in front, so that they close connections and not this
 *  server. */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_TIMEOUT_MS = 60_000;
const FIRST_READ_MS = 2_000;

// Boot: settings and metrics first, then Redis and what is read from it, then the HTTP server, then what runs at
// intervals.
const config = configOrExit();
const log = createLog(config.logLevel, 'web', processNumber());
if (isFirstProcess()) {
  log.info({ outbound: describeOutbound(config.outbound) }, 'where apps may be called');
  if (config.dev) log.warn('dev mode: no authentication; not for production');
}
const core = await startCore('web', config, log).catch(exitForSettings);
const opened = openWebStore(core);
// Without Redis the process starts all the same, and /readyz says so.
await Promise.race([opened.firstReads, setTimeout(FIRST_READ_MS)]);
const web = await createWeb(core, opened);

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
web.gateway.start();
const { shutdownDrainMs: drainMs, shutdownGraceMs: graceMs } = config;
const closeServer = gracefulShutdown(server, { drainMs, graceMs, endStreams: () => web.endStreams() });
const { store, secretKeyClaimed } = opened;
const { telemetry } = web.ingestion;
const reporter = startTelemetry({ telemetry, processes: store.processes, kind: core.kind, log });
acceptSignals({ log, graceMs: Math.max(drainMs, graceMs), close });
const socket = isSupervised() ? await listeningSocket() : { port: config.port, host: config.host };
await new Promise<void>((resolve) => {
  server.once('error', (error) => exitForPort(error, config));
  server.listen(socket, resolve);
});
const { port } = server.address() as AddressInfo;
const address = config.publicUrl ?? `http://${config.host === '0.0.0.0' ? 'localhost' : config.host}:${port}`;
if (isFirstProcess()) await Promise.race([prepareFirstAdmin(config, store, address, log), setTimeout(FIRST_READ_MS)]);
void secretKeyClaimed.then(() => reencryptSecrets(config, store, log));
web.backpressure.start();
web.archiveHealth.start();
web.webhookReplayer.start();
web.webhookWatcher.start();
if (isFirstProcess()) void web.discovery?.run(port);
reportReady(log, { port, ...(core.metricsServer && { metricsPort: core.metricsServer.port }) });

// Shutdown: drain the HTTP server, finish what requests have started, send the last telemetry, disconnect.
async function close({ isReplaced }: Ending): Promise<void> {
  const { queues, durability } = web.ingestion;
  // Whoever checks a replaced process reaches its successor next.
  if (!isReplaced) web.readiness.shutDown();
  web.gateway.refuseConnections();
  web.discovery?.close();
  await closeServer({ isReplaced });
  await web.gateway.close();
  await web.webhookReplayer.close();
  web.backpressure.close();
  web.archiveHealth.close();
  await Promise.all([opened.transforms.close(), web.httpAgent.destroy(), web.documentFetcher.close()]);
  await Promise.all([web.requestLogWriter.flush(), web.webhookWatcher.close()]);
  await reporter.close();
  await Promise.all([queues.close(), core.metricsServer?.close()]);
  durability?.close();
  opened.redis.disconnect();
  opened.subscriber.disconnect();
  opened.realtimeSubscriber.disconnect();
  await opened.archive?.database.close();
  await core.tracing?.close();
}
