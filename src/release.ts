/** Run before a deploy goes live: is the configuration complete, and is Redis there, new enough, and set to lose nothing? */
import { ConfigError, readConfig } from './config.ts';
import { createLog } from './log.ts';
import { checkDurability } from './store/durability.ts';
import { connect, ready } from './store/redis.ts';

const REDIS_TIMEOUT_MS = 10_000;
const REDIS_MIN_MAJOR = 7;

try {
  const config = readConfig();
  const redis = connect(config, 'wait', createLog('silent', 'release'));
  const timeout = AbortSignal.timeout(REDIS_TIMEOUT_MS);
  await Promise.race([
    ready(redis),
    new Promise((_, reject) => {
      timeout.onabort = () =>
        reject(new ConfigError(`REDIS_URL: no Redis answers at ${new URL(config.redisUrl).host}`));
    }),
  ]);
  const server = await redis.info('server');
  const version = /redis_version:(\S+)/.exec(server)?.[1] ?? 'unknown';
  if (Number.parseInt(version, 10) < REDIS_MIN_MAJOR) {
    throw new ConfigError(`REDIS_URL: Redis ${version} answers; it takes 7.0 or newer`);
  }
  await checkDurability(config, redis);
  const memory = await redis.info('memory');
  const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1];
  if (policy !== undefined && policy !== 'noeviction') {
    console.warn(
      `warning: Redis has maxmemory-policy ${policy}; under memory pressure it would drop accepted events. Set noeviction.`,
    );
  }
  console.log(`ready for release: settings are complete, Redis ${version} answers`);
  process.exit(0);
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}
