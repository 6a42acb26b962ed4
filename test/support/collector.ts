/** A trace collector for tests: receives OTLP over HTTP as JSON, and keeps the spans. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from './until.ts';

export const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** '' of the first span of a trace. */
  parentSpanId: string;
  name: string;
  kind: (typeof KINDS)[number];
  failed: boolean;
  attributes: Record<string, unknown>;
  /** `service.name` of the process. */
  service: string;
  serviceVersion: string;
}

type Attribute = { key: string; value: Record<string, unknown> };

export async function startCollector(): Promise<Collector> {
  const collector = new Collector();
  await collector.listen();
  return collector;
}

export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Path of each request. */
  readonly paths: string[] = [];
  /** All received text. */
  received = '';
  #port = 0;
  readonly #server = createServer(async (request, response) => {
    this.paths.push(request.url ?? '');
    const body = await text(request);
    this.received += body;
    this.#keep(JSON.parse(body));
    response.setHeader('content-type', 'application/json').end('{}');
  });

  /** Settings that make a service export its traces here quickly. */
  get env(): Record<string, string> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    };
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  ofTrace(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** Paths of the spans of a trace, sorted: `server POST /e/:key > producer send ingest`. Waits for this number of spans. */
  async tree(traceId: string, size: number): Promise<string[]> {
    const spans = await this.trace(traceId, size);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const pathOf = ({ kind, name, parentSpanId }: CollectedSpan): string => {
      const parent = byId.get(parentSpanId);
      return `${parent ? `${pathOf(parent)} > ` : ''}${kind} ${name}`;
    };
    return spans.map(pathOf).sort();
  }

  trace(traceId: string, size: number): Promise<CollectedSpan[]> {
    const describe = () =>
      `trace ${traceId} has ${size} spans; it has ${JSON.stringify(this.ofTrace(traceId).map(({ name }) => name))}`;
    return until(() => this.ofTrace(traceId).length >= size && this.ofTrace(traceId), { describe });
  }

  #keep(body: {
    resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: RawSpan[] }[] }[];
  }): void {
    for (const { resource, scopeSpans } of body.resourceSpans) {
      const process = valuesOf(resource.attributes);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId ?? '',
          name: span.name,
          kind: KINDS[span.kind] ?? '',
          failed: span.status.code === 2,
          attributes: valuesOf(span.attributes),
          service: String(process['service.name']),
          serviceVersion: String(process['service.version']),
        });
      }
    }
  }
}

interface RawSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: Attribute[];
}

/** OTLP wraps each value in an object that names its type. */
function valuesOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
