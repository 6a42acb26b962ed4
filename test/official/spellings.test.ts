import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

describe('Spellings of the official Python SDK', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
  });
  after(async () => {
    await host?.close();
    await service?.stop();
  });

  const proper = () => service.appHeaders.authorization as string;
  const register = (body: object, authorization = proper()) =>
    service.post('/fn/register', body, { 'x-inngest-sdk': 'py:v0.5.19', authorization });

  const registration = (appname: string) => {
    const { appName: _, ...rest } = host.registration([{ id: 'f', triggers: [{ event: 'spelled/x' }] }]);
    return { appname, ...rest };
  };

  it('include "appname" for the app name in its registration', async () => {
    const { status, body } = await register(registration('spelled'));
    expect(status, JSON.stringify(body)).to.equal(200);
    const app = (await service.get('/v1/apps/spelled')).body.data;
    expect(app.functions.map(({ id }: { id: string }) => id)).to.deep.equal(['test-app-f']);

    const refused = await register({ ...registration('spelled'), functions: [{}] });
    expect(refused.status).to.equal(400);
    expect((await service.get('/v1/apps/spelled')).body.data.last_sync.succeeded).to.equal(false);
  });

  it('include the hash of its signing key without prefix', async () => {
    const bare = proper().replace(/signkey-\w+-/, '');
    expect(bare).to.match(/^Bearer [0-9a-f]{64}$/);
    expect((await register(registration('spelled'), bare)).status).to.equal(200);
    for (const wrong of [bare.slice(0, -1), bare.replace(/.$/, (last) => (last === '0' ? '1' : '0')), 'Bearer ']) {
      expect((await register(registration('spelled'), wrong)).status, wrong).to.equal(401);
    }
  });
});
