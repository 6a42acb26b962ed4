/** Runs before a deploy goes live: checks the settings, and the connection, version and durability of Redis; prepares Postgres. Each check
 *  is a function; the output lists all findings. A problem stops the deploy, a warning does not. */
import type { Socket } from 'node:net';
import { migrate } from './archive/migrate.ts';
import { checkServer } from './archive/server-check.ts';
import { type ArchiveSettings, type Config, ConfigError, nodeProblem, readConfig } from './config.ts';
import { createLog } from './log.ts';
import { exposureWarnings } from './model/network/exposure.ts';
import { describeOutbound } from './model/network/outbound.ts';
import { isLoopback } from './settings/checks.ts';
import { checkCluster } from './store/redis/cluster/cluster-check.ts';
import { connect, type Redis } from './store/redis/connection/connection.ts';
import { withHint } from './store/redis/connection/connection-hints.ts';
import { checkPermissions } from './store/redis/connection/permission-check.ts';
import { readServerInfo } from './store/redis/connection/server-info.ts';
import { clusterOf } from './store/redis/connection/servers.ts';
import { checkDurability } from './store/redis/durability/durability.ts';
import { createStore } from './store/store.ts';

const REDIS_TIMEOUT_MS = 10_000;
const REDIS_MIN_MAJOR = 7;
/** Errors that a retry does not fix. */
const FINAL =
  /^(WRONGPASS|NOAUTH|NOPERM)|cluster support disabled|certificate|SSL|TLS|wrong version number|ENOTFOUND|ERR AUTH|invalid password/i;

const NO_CLUSTER = /cluster support disabled/;

type Finding = { problem: string } | { warning: string };

const SETTINGS_CHECKS: ((config: Config) => Finding[])[] = [publicUrl, proxies, exposure];
const REDIS_CHECKS: ((redis: Redis, config: Config) => Promise<Finding[]>)[] = [
  redisSettings,
  durability,
  permissions,
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
      {
        problem: `${settingOf(config)}: cannot connect to ${describeServers(config)}: ${withHint(unreachable, config.redis)}`,
      },
    ]);
  }
  for (const check of REDIS_CHECKS)
    found.push(...(await check(redis, config).catch((error: Error) => problemOf(error, config))));
  if (config.archive) found.push(...(await archive(config.archive)));
  if (!found.some((finding) => 'problem' in finding)) found.push(...(await schema(redis, config)));
  if (!report(found)) return false;
  console.log(describeOutbound(config.outbound));
  console.log(
    `Ready for release: settings are complete, and ${config.archive ? 'Redis and Postgres respond' : 'Redis responds'}`,
  );
  return true;
}

/** @returns whether the deploy may continue */
function report(found: Finding[]): boolean {
  for (const finding of found) {
    if ('problem' in finding) console.error(finding.problem);
    else console.warn(`warning: ${finding.warning}`);
  }
  return !found.some((finding) => 'problem' in finding);
}

function publicUrl({ dev, publicUrl }: Config): Finding[] {
  if (dev) return [];
  if (publicUrl !== undefined) return publicUrlWarnings(new URL(publicUrl)).map((warning) => ({ warning }));
  return [
    {
      problem:
        'PUBLIC_URL: not set. Webhook URLs, links for users and the check of browser origins need it. Set it to the public address of the ' +
        'service, such as https://events.example.com',
    },
  ];
}

function publicUrlWarnings({ hostname, pathname }: URL): string[] {
  return [
    ...(isLoopback(hostname)
      ? [`PUBLIC_URL names this machine (${hostname}): links and webhook URLs that start with it work nowhere else.`]
      : []),
    ...(pathname === '/'
      ? []
      : [
          `PUBLIC_URL has the path ${pathname}: the dashboard works at the root of its host alone. Give the service a host name.`,
        ]),
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

function exposure(config: Config): Finding[] {
  return exposureWarnings(config).map((warning) => ({ warning }));
}

/** The setting that names Redis. */
function settingOf({ redis: { clusterUrls, sentinels } }: Config): string {
  if (clusterUrls) return 'REDIS_CLUSTER_URLS';
  return sentinels ? 'REDIS_SENTINEL_URLS' : 'REDIS_URL';
}

/** The URL without credentials. */
function describeServers({ redis: { url, clusterUrls, sentinels } }: Config): string {
  const hosts = (urls: readonly string[]) => urls.map((url) => new URL(url).host).join(', ');
  if (clusterUrls) return `a Redis Cluster at ${hosts(clusterUrls)}`;
  return sentinels
    ? `the master "${sentinels.master}" of the Sentinels at ${hosts(sentinels.urls)}`
    : `Redis at ${hosts([url])}`;
}

/** The error message of Redis, TLS or DNS. */
async function whyUnreachable(redis: Redis): Promise<string | undefined> {
  const answered = Promise.withResolvers<string | undefined>();
  let last = `no response within ${REDIS_TIMEOUT_MS / 1_000} s`;
  const onError = ({ message }: Error) => {
    // The summary error of a cluster; the errors of its nodes say why.
    if (message === 'Failed to refresh slots cache.') return;
    last = NO_CLUSTER.test(message)
      ? 'this Redis is not part of a cluster; set cluster-enabled yes in its redis.conf, or use REDIS_URL'
      : message;
    if (FINAL.test(message)) answered.resolve(last);
  };
  redis.on('error', onError);
  clusterOf(redis)?.on('node error', onError);
  // Redis accepts connections without credentials, and then answers only with errors.
  redis.ping().then(
    () => answered.resolve(undefined),
    (error: Error) => answered.resolve(error.message),
  );
  const timeout = setTimeout(() => answered.resolve(last), REDIS_TIMEOUT_MS);
  return answered.promise.finally(() => clearTimeout(timeout));
}

async function redisSettings(redis: Redis, config: Config): Promise<Finding[]> {
  const cluster = clusterOf(redis);
  if (cluster) {
    const { problems, warnings } = await checkCluster(cluster, config);
    return [...problems.map((problem) => ({ problem })), ...warnings.map((warning) => ({ warning }))];
  }
  const { sentinels } = config.redis;
  if (sentinels) {
    const { remoteAddress, remotePort } = redis.stream as Socket;
    console.log(`The Sentinels name ${remoteAddress}:${remotePort} as the master "${sentinels.master}"`);
  }
  const { version, warnings, appendonly, appendfsync } = await readServerInfo(redis);
  const persistence = appendonly ? `appendonly yes, appendfsync ${appendfsync ?? 'unknown'}` : 'appendonly no';
  console.log(`Node ${process.versions.node}, Redis ${version} (${persistence})`);
  if (Number.parseInt(version, 10) < REDIS_MIN_MAJOR) {
    return [{ problem: `${settingOf(config)}: found Redis ${version}; Tidegate needs 7.0 or newer` }];
  }
  return warnings.map((warning) => ({ warning: `Redis ${version}: ${warning}` }));
}

async function durability(redis: Redis, config: Config): Promise<Finding[]> {
  const less = await checkDurability(config, redis);
  return less === undefined ? [] : [{ warning: less }];
}

async function permissions(redis: Redis, config: Config): Promise<Finding[]> {
  await checkPermissions(redis, createStore(redis, config).keys);
  return [];
}

async function notMoved(redis: Redis, config: Config): Promise<Finding[]> {
  const refusal = await createStore(redis, config).partitions.refusal();
  return refusal ? [{ problem: refusal.message }] : [];
}

async function secretKey(redis: Redis, config: Config): Promise<Finding[]> {
  const { secretKeyCheck } = createStore(redis, config);
  await secretKeyCheck.verify();
  const webhooks = await secretKeyCheck.unreadableWebhooks();
  if (webhooks === undefined) return [];
  return [
    {
      warning:
        `SECRET_KEY does not decrypt the secrets of the webhooks ${webhooks}, whose requests are refused: ` +
        'set SECRET_KEY_FALLBACK to the previous key, or save their secrets again.',
    },
  ];
}

/** Last, when no other problem prevents the deploy. */
async function schema(redis: Redis, config: Config): Promise<Finding[]> {
  try {
    const done = await createStore(redis, config).partitions.migrate();
    for (const version of done) console.log(`Redis: migrated to schema version ${version}`);
    return [];
  } catch (error) {
    return problemOf(error as Error, config);
  }
}

async function archive(settings: ArchiveSettings): Promise<Finding[]> {
  const { host } = new URL(settings.url);
  try {
    const { problems, warnings } = await checkServer(settings);
    const found = [
      ...problems.map((problem) => ({ problem: `DATABASE_URL: ${problem}` })),
      ...warnings.map((warning) => ({ warning: `DATABASE_URL: ${warning}` })),
    ];
    if (problems.length > 0) return found;
    const ran = await migrate(settings);
    if (ran.length > 0) console.log(`Postgres: ran ${ran.length} migrations (${ran.join(', ')})`);
    return found;
  } catch (error) {
    return [{ problem: `DATABASE_URL: cannot prepare Postgres at ${host}: ${messageOf(error as Error)}` }];
  }
}

/** Socket errors may have their message in nested errors. */
function messageOf(error: Error & { code?: string }): string {
  const message = error.message || error.code || String(error);
  return /self-signed certificate|unable to verify/.test(message)
    ? `${message}. If it is right, as Heroku's is, set DATABASE_TLS_VERIFY=false`
    : message;
}

function problemOf(error: Error, config: Config): Finding[] {
  return [
    {
      problem:
        error instanceof ConfigError
          ? error.message
          : `${settingOf(config)}: Redis responded with an error: ${withHint(error.message, config.redis)}`,
    },
  ];
}
