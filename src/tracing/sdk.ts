/** Starts OpenTelemetry's SDK, for traces only. The SDK reads its standard `OTEL_…` variables itself, the only part of the environment
 *  that config.ts does not read. Imported only if tracing is on. */
import { setTimeout } from 'node:timers/promises';
import { DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { NodeSDK, resources } from '@opentelemetry/sdk-node';
import packageJson from '../../package.json' with { type: 'json' };
import type { Logger } from '../log.ts';
import { rateLimitedWarnings } from './sdk-warnings.ts';
import { Tracing } from './tracing.ts';

/** Time to export the remaining spans when the process ends. */
const SHUTDOWN_TIMEOUT_MS = 2_000;

export function startSdk(serviceName: string, log: Logger): Tracing {
  const { version } = packageJson;
  // The `OTEL_…` variables override these.
  const defaults = resources.resourceFromAttributes({ 'service.name': serviceName, 'service.version': version });
  const sdk = new NodeSDK({
    resource: resources.defaultResource().merge(defaults),
    instrumentations: [],
    // Without these, the SDK would also export metrics and logs.
    metricReaders: [],
    logRecordProcessors: [],
  });
  // Replaces the SDK's own logger, which writes to the console with OTEL_LOG_LEVEL.
  diag.setLogger(rateLimitedWarnings(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  return new Tracing(trace.getTracer('tidegate', version), async () => {
    const exported = sdk.shutdown().catch((error: Error) => diag.warn(error.message));
    await Promise.race([exported, setTimeout(SHUTDOWN_TIMEOUT_MS)]);
  });
}
