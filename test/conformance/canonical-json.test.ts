import { expect } from 'chai';
import { canonical } from '../../src/functions/canonical-json.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  json: string;
  canonical: string;
}

describe('The service conforms: canonical JSON', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'canonical/x' }] }]);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  eachCase<Case>('canonical-json', { json: true, canonical: true }, async (given) => {
    expect(canonical(JSON.parse(given.json))).to.equal(given.canonical);
    const headers = { 'content-type': 'application/json' };
    const sent = await service.post('/e/key', `{"name":"canonical/x","data":{"v":${given.json}}}`, headers);
    expect(sent.status).to.equal(200);
    const { raw } = await host.nextCall('f');
    expect(raw.toString()).to.include(`"event":{"data":{"v":${given.canonical}},`);
  });
});
