import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { nodeProblem } from '../../src/config.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type ProgramResult, run } from '../support/program.ts';
import { SECRETS } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PRODUCTION = { MODE: 'production', TRUST_PROXY: '1', PUBLIC_URL: 'https://events.example.com', ...SECRETS };

const release = (env: Record<string, string>): Promise<ProgramResult> =>
  run('scripts/start', ['release'], { cwd: ROOT, env: { ...PRODUCTION, ...env } });

describe('release', () => {
  let own: OwnRedis;
  let admin: Redis;
  before(async () => {
    own = await startOwnRedis();
    admin = new Redis(own.url);
    await admin.config('SET', 'requirepass', 'pass');
    await admin.call('ACL', 'SETUSER', 'hosted', 'on', '>pass', '~*', '&*', '+@all', '-info');
  });
  after(async () => {
    admin.disconnect();
    await own.remove();
  });
  const at = (credentials: string) => own.url.replace('//', `//${credentials}@`);

  it('passes with complete settings and a durable Redis, and says so', async () => {
    const { exitCode, output } = await release({ REDIS_URL: at(':pass') });
    expect(exitCode, output).to.equal(0);
    expect(output)
      .to.match(/\nReady for release: settings are complete, and Redis responds\n$/)
      .and.not.include('warning');
  });

  it('warns about a Redis that may lose or evict data', async () => {
    await admin.config('SET', 'appendonly', 'no');
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { exitCode, output } = await release({ REDIS_URL: at(':pass') });
    await admin.config('SET', 'appendonly', 'yes');
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    expect(exitCode).to.equal(0);
    expect(output)
      .to.match(/warning: Redis 7\.\S+: appendonly is off/)
      .and.match(/warning: Redis .*maxmemory-policy is allkeys-lru/);
  });

  it('fails without an https PUBLIC_URL, and reports all problems at once', async () => {
    const missing = await release({ REDIS_URL: at(':wrong'), PUBLIC_URL: '' });
    expect(missing.exitCode).to.equal(1);
    expect(missing.output).to.include('PUBLIC_URL: not set').and.include('WRONGPASS');
    const plain = await release({ REDIS_URL: at(':pass'), PUBLIC_URL: 'http://events.example.com' });
    expect([plain.exitCode, plain.output.includes('PUBLIC_URL: got "http://events.example.com"')]).to.deep.equal([
      1,
      true,
    ]);
  });

  it('warns when PUBLIC_URL is https and TRUST_PROXY is 0', async () => {
    const { exitCode, output } = await release({ REDIS_URL: at(':pass'), TRUST_PROXY: '0' });
    expect([exitCode, output.includes('warning: TRUST_PROXY is 0, but PUBLIC_URL is https')]).to.deep.equal([0, true]);
  });

  it('reports why it cannot connect to Redis, with the error of Redis, TLS or DNS', async () => {
    const plain = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.write('not TLS', () => socket.destroy()));
    });
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as AddressInfo;
    const said = await Promise.all(
      [own.url, at(':wrong'), at('hosted:pass'), `rediss://127.0.0.1:${port}`, 'redis://nowhere.invalid'].map(
        async (REDIS_URL) => {
          const { exitCode, output } = await release({ REDIS_URL });
          expect(exitCode, output).to.equal(1);
          expect(output)
            .to.match(/^REDIS_URL: /m)
            .and.not.include('pass@');
          return output;
        },
      ),
    );
    plain.close();
    const reasons = [/NOAUTH/, /WRONGPASS/, /NOPERM/, /wrong version number/, /ENOTFOUND/];
    for (const [index, reason] of reasons.entries()) expect(said[index]).to.match(reason);
  });
});

describe('the version of Node', () => {
  it('must be 24 or newer', () => {
    expect(nodeProblem('22.20.0')).to.equal('Tidegate needs Node 24 or newer; found Node 22.20.0');
    expect(nodeProblem('24.0.0')).to.equal(undefined);
    expect(nodeProblem('26.1.0')).to.equal(undefined);
  });
});
