/** Exporters of spans, according to OpenTelemetry's variables. OTLP over HTTP with Protobuf is installed; others can be, but most
 *  installations need none. */
import { getStringFromEnv } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { ConfigError } from '../config.ts';
import { optionalExport } from './optional-package.ts';

/** @throws ConfigError */
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
