import { expect } from 'chai';
import lock from '../../package-lock.json' with { type: 'json' };

interface Package {
  link?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
}

const NODE_MODULES = 'node_modules/';

/** What `npm ci --omit=dev --omit=optional` installs. */
const installed = Object.entries(lock.packages as Record<string, Package>)
  .filter(([path, { link, dev, devOptional, optional }]) => {
    return path.includes(NODE_MODULES) && !link && !dev && !devOptional && !optional;
  })
  .map(([path]) => path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length));

describe('An installation for production', () => {
  it('has no compiler, no code of the dashboard and no test tools', () => {
    expect(installed).to.include.members(['koa', 'bullmq', 'isolated-vm']);
    const needless = /^(typescript|react|react-dom|vite|mocha|@biomejs\/.*|@types\/react|inngest|node)$/;
    expect(installed.filter((name) => needless.test(name))).to.deep.equal([]);
  });

  it('exports traces by OTLP over HTTP, and has no other exporter', () => {
    const exporters = installed.filter((name) => /^@opentelemetry\/(exporter|propagator)|^@grpc\//.test(name));
    expect(exporters).to.deep.equal(['@opentelemetry/exporter-trace-otlp-proto']);
  });
});
