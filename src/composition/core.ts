/** Parts that every process starts before it connects to Redis: tracing and metrics. */
import type { Config } from '../config.ts';
import { countingRuns, type RunCounts } from '../jobs/dev-clock/run-counts.ts';
import type { Logger } from '../log.ts';
import { type MetricsServer, startMetricsServer } from '../metrics/metrics-server.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { type MetricsRecorder, NOOP_RECORDER } from '../metrics/recorder.ts';
import { startMetrics } from '../metrics/start.ts';
import { exposureWarnings } from '../model/network/exposure.ts';
import type { ProcessKind } from '../store/telemetry/processes.ts';
import { startTracing } from '../tracing/start.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Starting, StartOptions } from './start-options.ts';

export interface Core {
  kind: ProcessKind;
  config: Config;
  log: Logger;
  /** undefined: tracing is off. */
  tracing: Tracing | undefined;
  /** undefined if metrics are off. */
  metrics: ProcessMetrics | undefined;
  recorder: MetricsRecorder;
  /** Counts of the process for the clock of dev mode; undefined in production. */
  runCounts: RunCounts | undefined;
  /** Listens before Redis is available, to be able to report that. A supervised process has none: its supervisor listens for the group. */
  metricsServer: MetricsServer | undefined;
}

/** @throws ConfigError when the metrics port is taken */
export async function startCore(
  kind: ProcessKind,
  { config, log, group, opened }: StartOptions & Starting,
): Promise<Core> {
  const { metricsPort, metricsToken } = config;
  if ((group?.number ?? 1) === 1) warnOfExposure(kind, config, log);
  const tracing = await startTracing(config.tracing, kind, log);
  if (tracing) opened.add(tracing);
  // With a token and no metrics port, a web process serves its metrics on the port of the API.
  const areMetricsOn = metricsPort !== undefined || (kind === 'web' && metricsToken !== undefined);
  const own = await startMetrics(areMetricsOn, kind);
  const metrics = own && group ? group.shareMetrics(own) : own;
  const metricsServer =
    metrics && metricsPort !== undefined && !group ? await startMetricsServer(config, metrics, log) : undefined;
  const measuring = metrics?.recorder ?? NOOP_RECORDER;
  const runCounts = config.dev ? { started: 0, ended: 0 } : undefined;
  const recorder = runCounts ? countingRuns(measuring, runCounts) : measuring;
  return { kind, config, log, tracing, metrics, recorder, runCounts, metricsServer };
}

/** Only web listens on PORT. */
function warnOfExposure(kind: ProcessKind, config: Config, log: Logger): void {
  const trustProxy = kind === 'web' ? config.trustProxy : 0;
  for (const warning of exposureWarnings({ ...config, trustProxy })) log.warn(warning);
}
