import { expect } from 'chai';
import { optionalExport } from '../../../src/tracing/optional-package.ts';
import { propagatorOf } from '../../../src/tracing/sdk.ts';

const messageOf = (rejected: Promise<unknown>) => rejected.then(String, (error: Error) => error.message);

describe('Exporters and propagators of traces', () => {
  it('that are not installed name the command that installs them', async () => {
    const missing = optionalExport('@opentelemetry/exporter-absent', 'Exporter', 'OTEL_TRACES_EXPORTER=absent');
    expect(await messageOf(missing)).to.equal(
      'OTEL_TRACES_EXPORTER=absent needs the package @opentelemetry/exporter-absent. Install it: npm install @opentelemetry/exporter-absent',
    );
  });

  it('read spans from the headers that OTEL_PROPAGATORS names', async () => {
    const headers = async (names: string) => (await propagatorOf(names))?.fields();
    expect(await headers('tracecontext, baggage')).to.deep.equal(['traceparent', 'tracestate', 'baggage']);
    expect(await headers('b3')).to.include('b3');
    expect(await headers('b3multi')).to.include('x-b3-traceid');
    expect(await headers('jaeger')).to.deep.equal(['uber-trace-id']);
    expect(await propagatorOf('none')).to.equal(null);
    expect(await propagatorOf('')).to.equal(undefined);
    expect(await messageOf(propagatorOf('tracecontext,xray'))).to.include('OTEL_PROPAGATORS: "xray" is unknown');
  });
});
