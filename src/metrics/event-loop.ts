/** How long the event loop of this process stands still. prom-client's own `nodejs_eventloop_lag_*` forget with each scrape; histograms
 *  keep every stall until somebody looks. The CPU part tells a computation of ours from a machine that had no time for us. */
import { DELAYS, type MetricsRegistry } from './registry.ts';

/** A stall shorter than this is not seen; looking 50 times a second takes less than a thousandth of a core. */
const PERIOD_MS = 20;

/** Observes until the process ends. */
export function watchEventLoop(panel: MetricsRegistry): void {
  const delays = panel.histogram(
    'event_loop_delay_seconds',
    `How much later than due the event loop came round, looked at every ${PERIOD_MS} ms.`,
    DELAYS,
  );
  const computed = panel.histogram(
    'event_loop_delay_cpu_seconds',
    'CPU time that the main thread took meanwhile: the part of a delay that no busy machine accounts for.',
    DELAYS,
  );
  let dueAt = performance.now() + PERIOD_MS;
  let cpuBefore = cpuMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const cpu = cpuMs();
    const delayMs = Math.max(0, now - dueAt);
    delays.observe(delayMs / 1_000);
    computed.observe(Math.min(delayMs, cpu - cpuBefore) / 1_000);
    dueAt = now + PERIOD_MS;
    cpuBefore = cpu;
  }, PERIOD_MS);
  timer.unref();
}

/** Of the main thread alone, not of those that collect garbage or read files. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
