import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { nodeProblem } from '../../src/config.ts';
import { makeCertificate } from '../support/certificates.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type ProgramResult, run } from '../support/program.ts';
import { SECRETS } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PRODUCTION = {
  MODE: 'production',
  HOST: '127.0.0.1',
  TRUST_PROXY: '1',
  PUBLIC_URL: 'https://events.example.com',
  ...SECRETS,
};

const release = (env: Record<string, string>): Promise<ProgramResult> =>
  run('scripts/start', ['release'], { cwd: ROOT, env: { ...PRODUCTION, ...env } });

describe('The release check', () => {
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

  it('shows the versions of Node and Redis, and how durable Redis is', async () => {
    const { output } = await release({ REDIS_URL: at(':pass') });
    expect(output).to.match(/^Node 2\d\.\S+, Redis 7\.\S+ \(appendonly yes, appendfsync always\)$/m);
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

  it('checks that others can reach PUBLIC_URL, and that it is only a host', async () => {
    const said = async (PUBLIC_URL: string) => {
      const { exitCode, output } = await release({ REDIS_URL: at(':pass'), PUBLIC_URL });
      return [exitCode, output] as const;
    };
    const [local, path, query] = await Promise.all([
      said('http://localhost:8288'),
      said('https://example.com/events'),
      said('https://events.example.com/?a=1'),
    ]);
    expect([local[0], path[0], query[0]]).to.deep.equal([0, 0, 1]);
    expect(local[1]).to.include('warning: PUBLIC_URL names this machine (localhost)');
    expect(path[1]).to.include('warning: PUBLIC_URL has the path /events');
    expect(query[1]).to.include('PUBLIC_URL: has a query, a fragment or credentials');
  });

  it('tries a script, a write and a message, so that a Redis user without these rights stops the deploy', async () => {
    for (const refused of ['-eval', '-persist', '-publish']) {
      await admin.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', '>pass', '~*', '&*', '+@all', refused);
      const { exitCode, output } = await release({ REDIS_URL: at('narrow:pass') });
      expect([exitCode, output]).to.satisfy(
        ([code, text]: [number, string]) => code === 1 && /NOPERM|user executing the script can't/.test(text),
        `${refused}: ${output}`,
      );
    }
    const database = await release({ REDIS_URL: `${at(':pass')}/99` });
    expect([database.exitCode, database.output.includes('DB index is out of range')]).to.deep.equal([1, true]);
  });

  it('says what to do when only one side uses TLS', async () => {
    const secure = createTlsServer(selfSigned()).on('tlsClientError', () => {});
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const { port } = secure.address() as AddressInfo;
    const [plain, tls, certificate] = await Promise.all(
      [own.url.replace('redis:', 'rediss:'), `redis://127.0.0.1:${port}`, `rediss://127.0.0.1:${port}`].map(
        async (REDIS_URL) => (await release({ REDIS_URL })).output,
      ),
    );
    secure.close();
    expect(plain, plain).to.include('the URL begins with redis://, not rediss://');
    expect(tls, tls).to.include('where the port needs TLS, the URL begins with rediss://');
    expect(certificate, certificate).to.include('self-signed certificate').and.include('set REDIS_TLS_VERIFY=false');
  });

  it('warns when PUBLIC_URL is https and TRUST_PROXY is 0', async () => {
    const { exitCode, output } = await release({ REDIS_URL: at(':pass'), TRUST_PROXY: '0' });
    expect([exitCode, output.includes('warning: TRUST_PROXY is 0, but PUBLIC_URL is https')]).to.deep.equal([0, true]);
  });

  it('warns when ports are open beside the proxy because nobody has chosen HOST', async () => {
    const { exitCode, output } = await release({ REDIS_URL: at(':pass'), HOST: '', METRICS_PORT: '9464' });
    expect([exitCode, output.match(/^warning: HOST .+/gm)?.length], output).to.deep.equal([0, 2]);
  });

  it('reports why it cannot connect to Redis, with the error from Redis, TLS or DNS', async () => {
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

function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const certificate = makeCertificate({ subject: 'redis', publicKey, issuer: 'redis', issuerKey: privateKey });
  return { key: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string, cert: certificate.toString() };
}

describe('the version of Node', () => {
  it('must be 24 or newer', () => {
    expect(nodeProblem('22.20.0')).to.equal('Tidegate needs Node 24 or newer; found Node 22.20.0');
    expect(nodeProblem('24.0.0')).to.equal(undefined);
    expect(nodeProblem('26.1.0')).to.equal(undefined);
  });
});
