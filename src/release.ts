/** Runs before a deploy goes live: checks the settings, and the connection, version and durability of Redis. Each check
 *  is a function; the output lists all findings. A problem stops the deploy, a warning does not. */
import { type Config, ConfigError, nodeProblem, readConfig } from './config.ts';
import { createLog } from './log.ts';
import { describeOutbound } from './model/network/outbound.ts';
import { connect, type Redis } from './store/redis/connection.ts';
import { checkDurability } from './store/redis/durability.ts';
import { readServerInfo } from './store/redis/server-info.ts';
import { createStore } from './store/store.ts';

const REDIS_TIMEOUT_MS = 10_000;
const REDIS_MIN_MAJOR = 7;
/** Errors that a retry does not fix. */
const FINAL =
  /^(WRONGPASS|NOAUTH|NOPERM)|certificate|SSL|TLS|wrong version number|ENOTFOUND|ERR AUTH|invalid password/i;

type Finding = { problem: string } | { warning: string };

const SETTINGS_CHECKS: ((config: Config) => Finding[])[] = [publicUrl, proxies];
const REDIS_CHECKS: ((redis: Redis, config: Config) => Promise<Finding[]>)[] = [
  redisSettings,
  durability,
  notMoved,
  secretKey,
];

process.exit((await release()) ? 0 : 1);

async function release(): Promise<boolean> {
  const node = nodeProblem();
  if (node !== undefined) return report([{ problem: node }]);
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (error instanceof ConfigError) return report([{ problem: error.message }]);
    throw error;
  }
  const found = SETTINGS_CHECKS.flatMap((check) => check(config));
  const redis = connect(config, 'wait', createLog('silent', 'release'));
  const unreachable = await whyUnreachable(redis);
  if (unreachable !== undefined) {
    return report([
      ...found,
      { problem: `REDIS_URL: cannot connect to Redis at ${new URL(config.redis.url).host}: ${unreachable}` },
    ]);
  }
  for (const check of REDIS_CHECKS) found.push(...(await check(redis, config).catch(problemOf)));
  if (!report(found)) return false;
  console.log(describeOutbound(config.outbound));
  console.log('Ready for release: settings are complete, and Redis responds');
  return true;
}

/** @returns whether the deploy may continue */
function report(found: Finding[]): boolean {
  for (const one of found) {
    if ('problem' in one) console.error(one.problem);
    else console.warn(`warning: ${one.warning}`);
  }
  return !found.some((one) => 'problem' in one);
}

function publicUrl({ dev, publicUrl }: Config): Finding[] {
  if (dev || publicUrl !== undefined) return [];
  return [
    {
      problem:
        'PUBLIC_URL: not set. Webhook URLs, links for users and the check of browser origins need it. Set it to the public address of the ' +
        'service, such as https://events.example.com',
    },
  ];
}

function proxies({ publicUrl, trustProxy }: Config): Finding[] {
  if (!publicUrl?.startsWith('https:') || trustProxy > 0) return [];
  return [
    {
      warning:
        'TRUST_PROXY is 0, but PUBLIC_URL is https, so a proxy must be in front. All requests seem to come from its address, and failed ' +
        'sign-ins of one person count against everyone. Set TRUST_PROXY to the number of proxies.',
    },
  ];
}

/** The error message of Redis, TLS or DNS. */
async function whyUnreachable(redis: Redis): Promise<string | undefined> {
  const answered = Promise.withResolvers<string | undefined>();
  let last = `no response within ${REDIS_TIMEOUT_MS / 1_000} s`;
  redis.on('error', ({ message }) => {
    last = message;
    if (FINAL.test(message)) answered.resolve(message);
  });
  // Redis accepts connections without credentials, and then only responds with errors.
  redis.ping().then(
    () => answered.resolve(undefined),
    (error: Error) => answered.resolve(error.message),
  );
  const timeout = setTimeout(() => answered.resolve(last), REDIS_TIMEOUT_MS);
  return answered.promise.finally(() => clearTimeout(timeout));
}

async function redisSettings(redis: Redis): Promise<Finding[]> {
  const { version, warnings } = await readServerInfo(redis);
  if (Number.parseInt(version, 10) < REDIS_MIN_MAJOR) {
    return [{ problem: `REDIS_URL: found Redis ${version}; Tidegate needs 7.0 or newer` }];
  }
  return warnings.map((warning) => ({ warning: `Redis ${version}: ${warning}` }));
}

async function durability(redis: Redis, config: Config): Promise<Finding[]> {
  const less = await checkDurability(config, redis);
  return less === undefined ? [] : [{ warning: less }];
}

async function notMoved(redis: Redis, config: Config): Promise<Finding[]> {
  const refusal = await createStore(redis, config).partitions.refusal();
  return refusal ? [{ problem: refusal.message }] : [];
}

async function secretKey(redis: Redis, config: Config): Promise<Finding[]> {
  await createStore(redis, config).secretKeyCheck.verify();
  return [];
}

function problemOf(error: Error): Finding[] {
  return [
    {
      problem:
        error instanceof ConfigError ? error.message : `REDIS_URL: Redis responded with an error: ${error.message}`,
    },
  ];
}
