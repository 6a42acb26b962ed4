import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { HostProgram } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { IN_PRODUCTION } from './hosts.ts';

for (const official of IN_PRODUCTION.filter(({ sdk }) => sdk.startsWith('TypeScript'))) {
  describe(`Anonymous requests to an app that responds at every path (${official.title})`, () => {
    let service: Service;
    let host: HostProgram;
    before(async () => {
      service = await startService({ dev: false, workers: 0 });
      host = await official.start(service);
    });
    after(async () => {
      await host?.stop();
      await service?.stop();
    });

    /** `fetch` would resolve the dots. */
    async function put(path: string) {
      const { hostname, port } = new URL(host.url);
      const sent = request({ hostname, port, path, method: 'PUT' }).end();
      const [response] = await once(sent, 'response');
      return { status: response.statusCode, text: await text(response) };
    }

    it('do not move it to their path', async () => {
      const { url } = host;
      expect((await service.post('/v1/apps', { url }, service.apiHeaders)).status).to.equal(200);
      for (const path of ['/api/x/%2e%2e/admin', '/api/anything', '/api/inngest/']) {
        const response = await put(path);
        expect(response.status, response.text).to.equal(200);
        const { data } = (await service.get(`/v1/apps/${official.app}`)).body;
        const fn = await service.redis.hget(`${service.prefix}:functions:production`, data.functions[0].id);
        expect([data.url, JSON.parse(fn ?? '{}').url.split('?')[0]], path).to.deep.equal([url, url]);
        expect(data.declined_url, path).to.be.a('string');
      }
      expect((await put('//other/api')).status, 'another host').to.equal(409);
    });
  });
}
