import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';
import { fill } from './match.ts';

interface Registration {
  appName: string;
  functions: { id: string }[];
}

interface Case {
  title: string;
  requests: { method: string; path: string; headers: Record<string, string>; body: Registration }[];
  [ofTheApp: string]: unknown;
}

const NAMES = { app: 'http://127.0.0.1:1/api/service', host: '127.0.0.1:1', sdk: 'test:v1.0.0', framework: 'test' };

describe('The service conforms: registration', () => {
  let dev: Service;
  let production: Service;
  before(async () => {
    dev = await startService({ workers: 0 });
    production = await startService({ workers: 0, dev: false });
  });
  after(async () => {
    await dev.stop();
    await production.stop();
  });

  eachCase<Case>(
    'registration',
    Object.fromEntries(
      'client environment functions serve request replies requests answer'.split(' ').map((field) => [field, true]),
    ),
    async ({ requests }) => {
      for (const { path, headers, body } of fill(requests, NAMES)) {
        const service = headers['x-service-expected-server-kind'] === 'dev' ? dev : production;
        const own = (headers.authorization ?? undefined) === service.appHeaders.authorization;
        const response = await service.post(path, body, { ...headers, 'x-service-sdk': NAMES.sdk });
        expect(response.status).to.equal(own ? 200 : 401);
        if (own) await expectFunctions(service, body);
      }
    },
  );

  async function expectFunctions(service: Service, { appName, functions }: Registration): Promise<void> {
    const { body } = await service.get(`/v1/functions?app=${encodeURIComponent(appName)}`);
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids).to.have.members(functions.map(({ id }) => id));
    for (const fn of functions) {
      const kept = (await service.get(`/v1/functions/${encodeURIComponent(fn.id)}`)).body.data;
      expect(kept.configuration).to.deep.equal(fn);
    }
  }
});
