/** The service responds with 503 to what Redis refuses, and no log line has the arguments of a command. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { startRedisProxy } from '../../chaos/faults/redis-proxy.ts';
import { readConfig } from '../../src/config.ts';
import type { ServiceError } from '../../src/errors.ts';
import { createLog, serializeError } from '../../src/log.ts';
import {
  connect,
  isStoreFailure,
  ready,
  replies,
  toServiceError,
} from '../../src/store/redis/connection/connection.ts';
import { addUser, PASSWORD, tokenIn } from '../support/auth.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { connectRedis, redisUrl } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('A connection to Redis that breaks in the middle of a reply', () => {
  it('fails all commands in flight with 503, even in pipelines and transactions', async () => {
    const proxy = await startRedisProxy(redisUrl());
    const redis = connect(readConfig({ MODE: 'dev', REDIS_URL: proxy.url }), 'fail-soon', createLog('silent', 'test'));
    try {
      for (const begin of [() => redis.pipeline(), () => redis.multi()]) {
        await ready(redis);
        const commands = begin();
        for (let n = 0; n < 100; n++) commands.get(`there-is-no-such-key-${n}`);
        proxy.cutMidReply();
        const error = await commands
          .exec()
          .then((results) => replies(results))
          .catch((thrown: Error) => thrown);
        expect((toServiceError(error) as ServiceError).code, String(error)).to.equal('unavailable');
        expect(isStoreFailure(error)).to.equal(true);
      }
    } finally {
      redis.disconnect();
      await proxy.close();
    }
  });
});

describe('A Redis that rejects commands', () => {
  let own: OwnRedis;
  let admin: Redis;
  let service: Service;
  before(async () => {
    own = await startOwnRedis();
    admin = new Redis(own.url);
    await admin.call('ACL', 'SETUSER', 'service', 'on', '>pass', '~*', '&*', '+@all');
    service = await startService({
      dev: false,
      workers: 0,
      env: { REDIS_URL: own.url.replace('//', '//service:pass@'), LOG_LEVEL: 'debug' },
    });
    await addUser(service, 'ada@example.com', 'admin');
  });
  after(async () => {
    await service.stop();
    admin.disconnect();
    await own.remove();
  });
  afterEach(() => admin.call('ACL', 'SETUSER', 'service', '+@all'));

  const invite = async () => {
    const body = { email: `${Math.random()}@example.com`, role: 'member' };
    const invited = await service.post('/v1/users', body, service.apiHeaders);
    return tokenIn(invited.body.data.set_password_url);
  };

  for (const [what, forbidden] of [
    ['a command', ['-hset']],
    ['a script', ['-evalsha', '-eval']],
    ['a command that it knows nothing of', ['-hget']],
  ] as const) {
    it(`causes a 503 if it forbids ${what}, and no argument is logged`, async () => {
      const token = await invite();
      await admin.call('ACL', 'SETUSER', 'service', ...forbidden);
      const response = await service.post('/auth/set-password', { token, password: PASSWORD });
      expect([response.status, response.body.code]).to.deep.equal([503, 'unavailable']);
      expect(response.body.error).to.include('Redis refuses commands (NOPERM)');
      expect(response.headers.get('retry-after')).to.match(/^\d+$/);
      const logged = () => service.output().includes(response.headers.get('x-request-id') as string);
      await until(logged, { describe: 'it is logged' });
      expect(service.output()).not.to.include('scrypt$').and.not.to.include('"args"').and.not.to.include('"internal"');
    });
  }

  it('causes a 503 while a script blocks it', async () => {
    await admin.config('SET', 'busy-reply-threshold', '20');
    const busy = new Redis(own.url);
    const script = busy.eval('while true do end', 0).catch(() => undefined);
    try {
      const response = await until(
        async () => {
          const one = await service.get('/v1/users');
          return one.body.error?.includes('BUSY') ? one : undefined;
        },
        { describe: 'Redis says that it is busy' },
      );
      expect([response.status, response.body.code]).to.deep.equal([503, 'unavailable']);
    } finally {
      await admin.script('KILL');
      await script;
      busy.disconnect();
    }
    expect((await service.get('/v1/users')).status).to.equal(200);
  });
});

describe('An error reply of Redis', () => {
  const SECRET = 'scrypt$secret';

  it('does not contain the arguments of its command, even in a transaction and on a duplicated connection', async () => {
    const redis = connect(readConfig({ MODE: 'dev', REDIS_URL: redisUrl() }), 'fail-soon', createLog('silent', 'test'));
    const other = redis.duplicate();
    try {
      await until(() => redis.status === 'ready' && other.status === 'ready', { describe: 'they are connected' });
      const thrown: unknown[] = [];
      for (const one of [redis, other]) {
        thrown.push(await one.call('HSET', 'x', SECRET).catch((error) => error));
        thrown.push(await one.call('NO-SUCH-COMMAND', SECRET).catch((error) => error));
        thrown.push(
          await one
            .multi()
            .set('x', '1', SECRET as 'EX', 1)
            .exec()
            .then((results) => results?.[0]?.[0]),
        );
      }
      for (const error of thrown) {
        expect(error).to.be.instanceOf(Error);
        const { message, stack, command, previousErrors } = error as Error & Record<string, unknown>;
        expect(JSON.stringify([message, stack, command, previousErrors])).not.to.include(SECRET);
      }
    } finally {
      redis.disconnect();
      other.disconnect();
    }
  });

  it('is translated for clients, since its message names hosts and scripts', () => {
    for (const [said, told] of [
      ['getaddrinfo ENOTFOUND redis.internal', 'there is no connection to Redis'],
      ['connect ECONNREFUSED 10.1.2.3:6379', 'there is no connection to Redis'],
      ["Stream isn't writeable and enableOfflineQueue options is false", 'there is no connection to Redis'],
      ['Command timed out', 'Redis did not answer in time'],
      ["OOM command not allowed when used memory > 'maxmemory'. script: 5ca1e, on @user_script:4.", 'Redis is full'],
      ["READONLY You can't write against a read only replica.", 'Redis is read-only'],
      ['MISCONF Redis is configured to save RDB snapshots, but …', 'Redis cannot save what it has'],
      ['LOADING Redis is loading the dataset in memory', 'Redis is loading what it has saved'],
    ] as const) {
      const error = toServiceError(new Error(said)) as ServiceError;
      expect(error.code, said).to.equal('unavailable');
      expect(error.message).to.equal(`Redis is unavailable: ${told}; send the same again after 2 s`);
      expect((error.cause as Error).message, 'for the log').to.equal(said);
    }
  });

  it('has no arguments when it is logged as text', () => {
    const text = `ERR unknown command 'NO', with args beginning with: '${SECRET}'`;
    expect(serializeError(text)).to.equal("ERR unknown command 'NO'");
  });

  it('is logged without the properties that a library attaches to it', async () => {
    const redis = connectRedis();
    const error = (await redis.call('HSET', 'x', SECRET).catch((error) => error)) as { command: unknown };
    redis.disconnect();
    expect(JSON.stringify(error.command)).to.include(SECRET);
    const wrapped = new Error('outer', { cause: error });
    for (const one of [error, wrapped]) {
      const told = JSON.stringify(serializeError(one));
      expect(told).to.include('wrong number of arguments').and.not.to.include(SECRET);
    }
  });
});
