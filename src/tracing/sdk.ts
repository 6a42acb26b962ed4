/** Starts OpenTelemetry's SDK, for traces only. The SDK reads its standard `OTEL_…` variables itself, the only part of the environment
 *  that config.ts does not read. Imported only if tracing is on. */
import { setTimeout } from 'node:timers/promises';
import { type DiagLogger, DiagLogLevel, diag, type TextMapPropagator, trace } from '@opentelemetry/api';
import {
  CompositePropagator,
  getStringFromEnv,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
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
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { ConfigError } from '../config.ts';
import type { Logger } from '../log.ts';
import { VERSION } from '../version.ts';
import { optionalExport } from './optional-package.ts';
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

const INTERVAL_MS = 60_000;
const MESSAGE_CHARS = 300;

/** Warnings of the SDK: at most one per minute, because every batch fails while a collector is down. */
export function rateLimitedWarnings(log: Logger, now: () => number = () => performance.now()): DiagLogger {
  let suppressedUntil = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  const warn = (message: string, ...details: unknown[]) => {
    if (now() < suppressedUntil) {
      suppressed++;
      return;
    }
    const warning = [messageOf(message), ...details].map(String).join(' ').slice(0, MESSAGE_CHARS);
    log.warn({ err: warning, ...(suppressed > 0 && { suppressed }) }, 'tracing');
    suppressedUntil = now() + INTERVAL_MS;
    suppressed = 0;
  };
  const noop = () => {};
  return { error: warn, warn, info: noop, debug: noop, verbose: noop };
}

/** The SDK reports an error as JSON with its stack and the response. */
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}

/** The headers in which senders pass their span, and apps receive the service's.
 *  @param names OTEL_PROPAGATORS
 *  @returns null: none; undefined: the SDK's default, `tracecontext,baggage`
 *  @throws ConfigError */
export async function propagatorOf(names: string | undefined): Promise<TextMapPropagator | null | undefined> {
  const wanted = (names ?? '').split(',').map((name) => name.trim());
  const chosen = [...new Set(wanted)].filter((name) => name !== '');
  if (chosen.length === 0) return undefined;
  if (chosen.includes('none')) return null;
  return new CompositePropagator({ propagators: await Promise.all(chosen.map(propagator)) });
}

async function propagator(name: string): Promise<TextMapPropagator> {
  const neededFor = `OTEL_PROPAGATORS=${name}`;
  switch (name) {
    case 'tracecontext':
      return new W3CTraceContextPropagator();
    case 'baggage':
      return new W3CBaggagePropagator();
    case 'b3':
    case 'b3multi': {
      const B3Propagator = await optionalExport<new (options: object) => TextMapPropagator>(
        '@opentelemetry/propagator-b3',
        'B3Propagator',
        neededFor,
      );
      // The package's own numbers for one header and for several.
      return new B3Propagator({ injectEncoding: name === 'b3' ? 0 : 1 });
    }
    case 'jaeger':
      return new (
        await optionalExport<new () => TextMapPropagator>(
          '@opentelemetry/propagator-jaeger',
          'JaegerPropagator',
          neededFor,
        )
      )();
    default:
      throw new ConfigError(
        `OTEL_PROPAGATORS: "${name}" is unknown. Choose from tracecontext, baggage, b3, b3multi, jaeger, none`,
      );
  }
}

/** Exporters according to OpenTelemetry's variables. OTLP over HTTP with Protobuf is installed; others can be, but most installations need none.
 *  @throws ConfigError */
export function spanProcessors(): Promise<SpanProcessor[]> {
  const names = (getStringFromEnv('OTEL_TRACES_EXPORTER') ?? 'otlp').split(',').map((name) => name.trim());
  return Promise.all([...new Set(names)].map((name) => spanProcessor(name)));
}

async function spanProcessor(name: string): Promise<SpanProcessor> {
  switch (name) {
    case 'console':
      return new SimpleSpanProcessor(new ConsoleSpanExporter());
    case 'otlp':
      return new BatchSpanProcessor(await otlpExporter());
    case 'zipkin':
      return new BatchSpanProcessor(
        await exporterOf('@opentelemetry/exporter-zipkin', 'ZipkinExporter', 'OTEL_TRACES_EXPORTER=zipkin'),
      );
    default:
      throw new ConfigError(`OTEL_TRACES_EXPORTER: "${name}" is unknown. Choose otlp, console, zipkin or none`);
  }
}

async function otlpExporter(): Promise<SpanExporter> {
  const variable = getStringFromEnv('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL')
    ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
    : 'OTEL_EXPORTER_OTLP_PROTOCOL';
  const encoding = getStringFromEnv(variable) ?? 'http/protobuf';
  switch (encoding) {
    case 'http/protobuf':
      return new OTLPTraceExporter();
    case 'http/json':
      return exporterOf('@opentelemetry/exporter-trace-otlp-http', 'OTLPTraceExporter', `${variable}=${encoding}`);
    case 'grpc':
      return exporterOf('@opentelemetry/exporter-trace-otlp-grpc', 'OTLPTraceExporter', `${variable}=${encoding}`);
    default:
      throw new ConfigError(`${variable}: "${encoding}" is unknown. Choose http/protobuf, http/json or grpc`);
  }
}

async function exporterOf(packageName: string, exported: string, neededFor: string): Promise<SpanExporter> {
  const Exporter = await optionalExport<new () => SpanExporter>(packageName, exported, neededFor);
  return new Exporter();
}
