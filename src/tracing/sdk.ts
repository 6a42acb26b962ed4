/** OpenTelemetry's SDK, for traces alone. It reads its own settings: the `OTEL_…` variables are the one part of the environment that
 *  config.ts does not read for others, for they are a standard that the SDK knows best. Imported only where traces are asked for. */
import { setTimeout } from 'node:timers/promises';
import { DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { NodeSDK, resources } from '@opentelemetry/sdk-node';
import packageJson from '../../package.json' with { type: 'json' };
import type { Logger } from '../log.ts';
import { rateLimitedWarnings } from './sdk-warnings.ts';
import { Tracing } from './tracing.ts';

/** For what is still to be sent when the process ends, be the collector there or not. */
const LAST_SPANS_MS = 2_000;

export function startSdk(serviceName: string, log: Logger): Tracing {
  const { version } = packageJson;
  // What the variables say of the service stands over this.
  const own = resources.resourceFromAttributes({ 'service.name': serviceName, 'service.version': version });
  const sdk = new NodeSDK({
    resource: resources.defaultResource().merge(own),
    instrumentations: [],
    // Left out, the SDK would export metrics and logs as well.
    metricReaders: [],
    logRecordProcessors: [],
  });
  // After the SDK, which with OTEL_LOG_LEVEL would write to the console.
  diag.setLogger(rateLimitedWarnings(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  return new Tracing(trace.getTracer('tidegate', version), async () => {
    const sent = sdk.shutdown().catch((error: Error) => diag.warn(error.message));
    await Promise.race([sent, setTimeout(LAST_SPANS_MS)]);
  });
}
