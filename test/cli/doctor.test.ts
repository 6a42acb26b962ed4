import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { keyHeaders } from '../support/auth.ts';
import { makeCertificate } from '../support/certificates.ts';
import { cli, cliOk } from '../support/cli.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate doctor', () => {
  let service: Service;
  let own: OwnRedis;
  let host: AppHost;

  before(async () => {
    own = await startOwnRedis();
    host = await startAppHost();
    service = await startService({ env: { REDIS_URL: own.url } });
    await service.waitFor('/v1/overview', ({ body }) => body.data.processes.length === 2);
  });
  after(async () => {
    await host.close();
    await service.stop();
    await own.remove();
  });

  it('lists every check, and exits with 0 when nothing is wrong', async () => {
    const { stdout } = await cliOk(['doctor'], { service });
    expect(stdout).to.match(/^ok +service +http\S+ answers, in dev mode$/m);
    expect(stdout).to.match(/^ok +clock +the clocks of this machine and of the service agree$/m);
    // A busy machine is slow.
    expect(stdout).to.match(/^(ok|warning) +redis +Redis (responds in|takes) \d+ ms/m);
    expect(stdout).to.match(/^0 problems, \d warnings?, \d+ ok$/m);
  });

  it('says how to fix what is wrong, such as an app that does not respond, and exits with 7', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'x/y' }] }]);
    const responding = await cliOk(['doctor', '--json'], { service });
    const apps = responding.json.checks.filter(({ id }: { id: string }) => id === 'apps');
    expect(apps.every(({ status }: { status: string }) => status !== 'problem')).to.equal(true);
    await host.close();
    const { exitCode, stdout } = await cli(['doctor', '--problems'], { service });
    expect(exitCode).to.equal(7);
    expect(stdout).to.match(/^problem +apps +\S+: .*\n +→ /m);
    expect(stdout).not.to.match(/^ok /m);
    const without = await cli(['doctor', '--no-apps'], { service });
    expect(without.exitCode).to.equal(0);
  });

  it('checks from outside that PUBLIC_URL leads to the service, and checks its certificate', async () => {
    const { key, cert } = selfSigned();
    const elsewhere = createServer({ key, cert }, (_, response) => response.end('{"status": "ok"}'));
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const PUBLIC_URL = `https://localhost:${(elsewhere.address() as AddressInfo).port}`;
    const production = await startService({ dev: false, workers: 0, env: { PUBLIC_URL } });
    const { exitCode, json } = await cli(['doctor', '--json'], { service: production });
    const directly = await cli(['doctor', '--url', PUBLIC_URL]);
    elsewhere.close();
    expect(directly.stdout)
      .to.match(/^problem +service +No secure connection to https:.*certificate/m)
      .and.match(/→ .*NODE_EXTRA_CA_CERTS/)
      .and.not.include('tidegate dev');
    expect([exitCode, json.status]).to.deep.equal([7, 'problem']);
    const of = (id: string) => json.checks.filter((check: { id: string }) => check.id === id);
    expect(of('certificate')[0].message).to.include('the certificate of localhost is not trusted');
    expect(of('public_url')[0]).to.include({ status: 'problem' });
    expect(of('processes')[0].remedy).to.include('scripts/start worker');
    await production.stop();
  });

  it('distinguishes a service that does not respond from a key without sufficient access', async () => {
    const silent = await cli(['doctor', '--url', 'http://127.0.0.1:9']);
    expect([silent.exitCode, silent.stdout]).to.satisfy(([code, text]: [number, string]) => {
      return code === 5 && /^problem +service +No service answers at http:\/\/127.0.0.1:9/m.test(text);
    });
    const production = await startService({ dev: false, workers: 0 });
    const { authorization = '' } = await keyHeaders(production, 'admin', 'production');
    for (const key of ['', authorization.replace('Bearer ', '')]) {
      const refused = await cli(['doctor'], { service: production, env: { TIDEGATE_API_KEY: key } });
      expect([refused.exitCode, refused.stdout], key).to.satisfy(([code, text]: [number, string]) => {
        return code === 4 && /^problem +api_key .*\n.*→ Set TIDEGATE_API_KEY/m.test(text);
      });
    }
    await production.stop();
  });
});

function selfSigned(): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const name = { subject: 'localhost', issuer: 'localhost', hosts: ['localhost'] };
  const cert = makeCertificate({ ...name, publicKey, issuerKey: privateKey });
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert: cert.toString() };
}
