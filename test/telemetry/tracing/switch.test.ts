import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../../../scripts/lib/ports.ts';
import { readConfig } from '../../../src/config.ts';
import { rateLimitedWarnings } from '../../../src/tracing/sdk.ts';
import { type AppHost, startAppHost } from '../../support/app-host.ts';
import { startCollector } from '../../support/collector.ts';
import { startService } from '../../support/service.ts';

const ENDPOINT = 'http://127.0.0.1:4318';
/** Makes a process print at exit which OpenTelemetry packages it has loaded. */
const PRINT_PACKAGES = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire('file:///');
  const packages = () => Object.keys(cache).flatMap((path) => /node_modules.(@opentelemetry.[\\w-]+|bullmq-otel)/.exec(path)?.[1] ?? []);
  process.on('exit', () => console.error('loaded:' + [...new Set(packages())].sort()));`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(PRINT_PACKAGES)}`;

describe('Tracing', () => {
  let host: AppHost;
  before(async () => {
    host = await startAppHost();
  });
  after(() => host.close());

  const CASES: [given: Record<string, string>, on: boolean][] = [
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ENDPOINT }, true],
    [{ OTEL_TRACES_EXPORTER: 'console' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_EXPORTER: '' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'false' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: ENDPOINT }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'True' }, false],
  ];
  for (const [given, on] of CASES) {
    it(`is ${on ? 'on' : 'off'} with ${JSON.stringify(given)}`, () => {
      expect(readConfig({ MODE: 'dev', ...given }).tracing).to.equal(on);
    });
  }

  it('loads no package while it is off, and gives functions a traceparent made of existing IDs', async () => {
    const service = await startService({ env: { NODE_OPTIONS } });
    const { webs, workers } = service;
    try {
      await host.register(service, [{ id: 'off', triggers: [{ event: 'off/x' }] }]);
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      await service.post('/e/key', { name: 'off/x', data: {} }, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
      const { headers } = await host.nextCall('off');
      expect(headers.traceparent)
        .to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
        .and.not.include(traceId);
    } finally {
      await service.stop();
    }
    for (const { output } of [...webs, ...workers]) expect(output()).to.match(/^loaded:$/m);
  });

  it('uses the service name of OTEL_SERVICE_NAME', async () => {
    const collector = await startCollector();
    const env = { ...collector.env, OTEL_SERVICE_NAME: 'shop-events', NODE_OPTIONS };
    const service = await startService({ env, workers: 0 });
    const [web] = service.webs;
    try {
      try {
        await service.get('/v1/events');
        await service.get('/livez');
      } finally {
        await service.stop();
      }
      // A process exports its remaining spans when it ends.
      expect(collector.spans.map(({ name, service }) => [name, service])).to.deep.equal([
        ['GET /v1/events', 'shop-events'],
      ]);
      expect(web?.output()).to.match(/^loaded:.*@opentelemetry.sdk-trace-node/m);
    } finally {
      await collector.close();
    }
  });

  it('delays neither events nor shutdown when the collector is down', async () => {
    const unusedUrl = `http://127.0.0.1:${await freePort()}`;
    // Short, so that every batch fails while the process runs.
    for (const warnings of await sendEvents(unusedUrl, { OTEL_EXPORTER_OTLP_TIMEOUT: '100' })) {
      expect(warnings).to.have.lengthOf(1);
      expect(JSON.parse(warnings[0] as string)).to.include({
        level: 'warn',
        err: `connect ECONNREFUSED ${new URL(unusedUrl).host}`,
      });
    }
  });

  it('delays neither events nor shutdown when the collector never responds', async () => {
    const silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const sockets = new Set<{ destroy(): void }>();
    silent.on('connection', (socket) => sockets.add(socket));
    try {
      for (const warnings of await sendEvents(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)) {
        expect(warnings.length).to.be.at.most(1);
      }
      expect(sockets).to.not.have.lengthOf(0);
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
      await once(silent, 'close');
    }
  });

  it('logs at most one warning per minute, with the number of suppressed ones', () => {
    const lines: unknown[] = [];
    let now = 0;
    const { warn, error } = rateLimitedWarnings({ warn: (facts: unknown) => lines.push(facts) } as never, () => now);
    error(JSON.stringify({ stack: 'Error: at …', message: 'no collector' }), new Error('ECONNREFUSED'));
    for (now = 1_000; now < 60_000; now += 1_000) warn('no collector');
    expect(lines).to.deep.equal([{ err: 'no collector Error: ECONNREFUSED' }]);
    warn('no collector yet');
    expect(lines.slice(1)).to.deep.equal([{ err: 'no collector yet', suppressed: 59 }]);
  });

  /** @returns the log lines of each process about tracing */
  async function sendEvents(endpoint: string, more: Record<string, string> = {}): Promise<string[][]> {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '20', ...more };
    const service = await startService({ env });
    const { webs, workers } = service;
    let stoppedAt = Number.NEGATIVE_INFINITY;
    try {
      await host.register(service, [{ id: 'flows', triggers: [{ event: 'flows/x' }] }], { appName: 'flows' });
      for (let n = 0; n < 20; n++) {
        expect((await service.post('/e/key', { name: 'flows/x', data: { n } })).status).to.equal(200);
        expect((await host.nextCall('flows')).headers.traceparent).to.match(/-01$/);
      }
    } finally {
      stoppedAt = performance.now();
      await service.stop();
    }
    // One process after the other: two seconds each for the last spans, plus the shutdown itself.
    expect(performance.now() - stoppedAt).to.be.below(10_000);
    return [...webs, ...workers].map(({ output }) =>
      output()
        .split('\n')
        .filter((line) => line.includes('"tracing"')),
    );
  }
});
