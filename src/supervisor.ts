/** Several web or worker processes in one dyno or container (WEB_CONCURRENCY, WORKER_CONCURRENCY): they share the port,
 *  one that ends is replaced, SIGUSR2 replaces all one after another, and a scrape has the metrics of all.
 *  `scripts/start` runs it for more than one process: node src/supervisor.ts web|worker */
import type { ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import { portProblem } from './config.ts';
import { createLog } from './log.ts';
import { startMetricsServer } from './metrics/metrics-server.ts';
import { configOrExit, endAtOnce, endInOrder, exitForSettings, reportReady } from './process.ts';
import { GroupScrape } from './supervision/group-scrape.ts';
import { ignoreClosed, type ToProcess, type ToSupervisor } from './supervision/messages.ts';
import { FirstStartFailed, ProcessGroup } from './supervision/process-group.ts';
import { reloadOnSignal } from './supervision/reload.ts';
import { SharedPort } from './supervision/shared-port.ts';

/** Time for processes that do not end by themselves. */
const LAST_MS = 5_000;

const role = process.argv[2] === 'worker' ? 'worker' : 'web';
const config = configOrExit();
const log = createLog(config.logLevel, role);
const { metricsPort, metricsToken, concurrency } = config;
const areMetricsOn = metricsPort !== undefined || (role === 'web' && metricsToken !== undefined);
const scrape = areMetricsOn ? await startScrape() : undefined;
const metricsServer =
  scrape && metricsPort !== undefined
    ? await startMetricsServer(config, scrape, log).catch(exitForSettings)
    : undefined;
const port =
  role === 'web'
    ? await SharedPort.reserve(config.port, config.host).catch((error) => exitForSettings(portProblem(error, config)))
    : undefined;
const graceMs = Math.max(config.shutdownGraceMs, role === 'web' ? config.shutdownDrainMs : 0) + LAST_MS;
let isEnding = false;
const group = new ProcessGroup({
  file: join(import.meta.dirname, `${role}${extname(import.meta.filename)}`),
  count: concurrency[role],
  env: port === undefined ? {} : { PORT: String(port.port) },
  log,
  onMessage(child, message, number) {
    if ((message as ToSupervisor).kind === 'socket?') giveSocket(child, number);
    else scrape?.onMessage(child, message as ToSupervisor);
  },
  onExit: (child) => scrape?.onExit(child),
  onVacant: (number) => port?.release(number),
});

endInOrder({
  log,
  graceMs,
  async close() {
    isEnding = true;
    // The processes also have the sockets, and accept connections until each has drained.
    port?.close();
    await group.stop(graceMs);
    await metricsServer?.close();
  },
  onRepeatedSignal(signal) {
    group.kill();
    endAtOnce(signal);
  },
});
reloadOnSignal(() => group.reload(graceMs), log);

try {
  await group.start();
  reportReady(log, {
    processes: concurrency[role],
    ...(port && { port: port.port }),
    ...(metricsServer && { metricsPort: metricsServer.port }),
  });
} catch (error) {
  if (!(error instanceof FirstStartFailed)) throw error;
  // The process has logged the reason.
  process.exit(error.exitCode);
}

function giveSocket(child: ChildProcess, number: number): void {
  if (isEnding) return;
  child.send({ kind: 'socket' } satisfies ToProcess, port?.socketOf(number), undefined, ignoreClosed);
}

/** prom-client is loaded only if metrics are on. */
async function startScrape(): Promise<GroupScrape> {
  const { GroupMetrics } = await import('./metrics/group-metrics.ts');
  return new GroupScrape(new GroupMetrics(role));
}
