import { expect } from 'chai';
import { exposureWarnings } from '../../src/model/network/exposure.ts';

describe('The warnings about open ports', () => {
  const open = { dev: false, isHostSet: false, trustProxy: 1, metricsPort: 9464, metricsToken: undefined };

  it('name PORT behind a proxy, and METRICS_PORT without a token, if HOST is not set', () => {
    const [port, metrics, ...others] = exposureWarnings(open);
    expect(port).to.include('TRUST_PROXY is 1').and.include('HOST=127.0.0.1');
    expect(metrics).to.include('METRICS_PORT').and.include('METRICS_TOKEN');
    expect(others).to.deep.equal([]);
    expect(exposureWarnings({ ...open, trustProxy: 0 })).to.deep.equal([metrics]);
    expect(exposureWarnings({ ...open, metricsToken: 'a token of 16 characters' })).to.deep.equal([port]);
    expect(exposureWarnings({ ...open, metricsPort: undefined })).to.deep.equal([port]);
  });

  it('are absent if HOST has any value, and in dev mode', () => {
    expect(exposureWarnings({ ...open, isHostSet: true })).to.deep.equal([]);
    expect(exposureWarnings({ ...open, dev: true })).to.deep.equal([]);
  });
});
