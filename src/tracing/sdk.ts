/** Starts OpenTelemetry's SDK, for traces only. The SDK reads its standard `OTEL_…` variables itself, the only part of the environment
 *  that config.ts does not read. Imported only if tracing is on. */
import { setTimeout } from 'node:timers/promises';
import { DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { getStringFromEnv } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  osDetector,
  processDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Logger } from '../log.ts';
import { VERSION } from '../version.ts';
import { propagatorOf } from './propagators.ts';
import { rateLimitedWarnings } from './sdk-warnings.ts';
import { spanProcessors } from './span-processors.ts';
import { Tracing } from './tracing.ts';

/** Time to export the remaining spans when the process ends. */
const SHUTDOWN_TIMEOUT_MS = 2_000;

/** @throws ConfigError for an unavailable exporter, protocol or propagator */
export async function startSdk(serviceName: string, log: Logger): Promise<Tracing> {
  // Replaces the SDK's own logger, which writes to the console with OTEL_LOG_LEVEL.
  diag.setLogger(rateLimitedWarnings(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const detectors = [hostDetector, osDetector, serviceInstanceIdDetector, processDetector, envDetector];
  const provider = new NodeTracerProvider({
    // The `OTEL_…` variables override the names.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION }))
      .merge(detectResources({ detectors })),
    spanProcessors: await spanProcessors(),
  });
  const propagator = await propagatorOf(getStringFromEnv('OTEL_PROPAGATORS'));
  provider.register(propagator === undefined ? {} : { propagator });
  return new Tracing(trace.getTracer('tidegate', VERSION), async () => {
    const exported = provider.shutdown().catch((error: Error) => diag.warn(error.message));
    await Promise.race([exported, setTimeout(SHUTDOWN_TIMEOUT_MS)]);
  });
}
