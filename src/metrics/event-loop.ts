/** Delays of this process's event loop. prom-client's own `nodejs_eventloop_lag_*` reset at each scrape; histograms keep every stall.
 *  The CPU part separates the service's own computation from a machine without time for this process. */
import { DELAY_BUCKETS, type MetricsRegistry } from './registry.ts';

/** Misses shorter stalls; 50 checks per second take less than a thousandth of a core. */
const PERIOD_MS = 20;

/** Observes until the process exits. */
export function measureEventLoop(registry: MetricsRegistry): void {
  const delays = registry.histogram(
    'event_loop_delay_seconds',
    `Delay of the event loop, checked every ${PERIOD_MS} ms.`,
    DELAY_BUCKETS,
  );
  const cpuDelays = registry.histogram(
    'event_loop_delay_cpu_seconds',
    'CPU time that the main thread used during a delay: the part that the machine is not to blame for.',
    DELAY_BUCKETS,
  );
  let dueAt = performance.now() + PERIOD_MS;
  let cpuBefore = mainThreadCpuMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const cpu = mainThreadCpuMs();
    const delayMs = Math.max(0, now - dueAt);
    delays.observe(delayMs / 1_000);
    cpuDelays.observe(Math.min(delayMs, cpu - cpuBefore) / 1_000);
    dueAt = now + PERIOD_MS;
    cpuBefore = cpu;
  }, PERIOD_MS);
  timer.unref();
}

/** Excludes threads that collect garbage or read files. */
function mainThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
