/** Every key in Redis: keys of the installation, and keys of each partition. Each room declares its keys with their documentation for
 *  docs/redis.md. */
import { installationTag, partitionTag } from '../../../model/partitions/hash-tags.ts';
import { PartitionLayout } from '../../../model/partitions/layout.ts';
import { ALERT_KEYS } from '../../keys/alerts.ts';
import { APP_KEYS } from '../../keys/apps.ts';
import { AUTH_KEYS } from '../../keys/auth.ts';
import { BULK_KEYS } from '../../keys/bulk.ts';
import { CONNECT_KEYS } from '../../keys/connect.ts';
import { ENVIRONMENT_KEYS } from '../../keys/environments.ts';
import { ERROR_KEYS } from '../../keys/errors.ts';
import { EVENT_KEYS, EVENT_SOURCE_KEYS } from '../../keys/events.ts';
import { FLOW_CONTROL_KEYS } from '../../keys/flow-control.ts';
import { type KeyDeclaration, keysOf } from '../../keys/key-declaration.ts';
import { REALTIME_KEYS } from '../../keys/realtime.ts';
import { RUN_KEYS } from '../../keys/runs.ts';
import { PARTITION_KEYS, SHARED_KEYS } from '../../keys/shared.ts';
import { TELEMETRY_KEYS } from '../../keys/telemetry.ts';
import { WEBHOOK_KEYS, WEBHOOK_LOG_KEYS } from '../../keys/webhooks.ts';

export type PartitionKeyspace = ReturnType<typeof partitionKeyspace>;
type InstallationKeyspace = ReturnType<typeof installationKeyspace>;

export interface Keyspace extends InstallationKeyspace {
  /** Keys of the partition of an ID: of an event, a run or a webhook. */
  of(id: string): PartitionKeyspace;
  partition(n: number): PartitionKeyspace;
  /** Keys of all partitions, in order. */
  all(): PartitionKeyspace[];
  /** Keys of the partitions that may have data of a name, such as waits for an event name; the current partition first. */
  homesOf(env: string, name: string): [PartitionKeyspace, ...PartitionKeyspace[]];
  /** Keys of a text's permanent partition: counts must stay in one place when partitions are added. */
  homeOf(text: string): PartitionKeyspace;
}

/** Prefixes of keys. A single Redis permits any. In a cluster, all keys of a partition share a hash tag, which scripts and transactions
 *  require. */
export interface KeyspaceOptions {
  prefix: string;
  cluster: boolean;
  /** @throws ServiceError unavailable while the layout is unknown */
  layout: () => PartitionLayout;
}

const ONE_PARTITION = new PartitionLayout([{ count: 1, since: 0 }]);

export function keyspace({
  prefix,
  cluster = false,
  layout = () => ONE_PARTITION,
}: Pick<KeyspaceOptions, 'prefix'> & Partial<KeyspaceOptions>): Keyspace {
  const keyspaces: PartitionKeyspace[] = [];
  const partition = (n: number) => {
    keyspaces[n] ??= partitionKeyspace(partitionPrefix(prefix, n, cluster), n);
    return keyspaces[n];
  };
  return {
    ...installationKeyspace(cluster ? `{${installationTag(prefix)}}` : prefix),
    of: (id) => partition(layout().partitionOf(id)),
    partition,
    all: () => Array.from({ length: layout().count }, (_, n) => partition(n)),
    homesOf: (env, name) => layout().homesOf(`${env}/${name}`, Date.now()).map(partition) as [PartitionKeyspace],
    homeOf: (text) => partition(layout().permanentHomeOf(text)),
  };
}

/** On a single Redis, the first partition uses the installation's prefix, like an installation without partitions. */
function partitionPrefix(prefix: string, n: number, cluster: boolean): string {
  return n === 0 && !cluster ? prefix : `{${partitionTag(prefix, n)}}`;
}

const INSTALLATION_KEYS = {
  ...EVENT_SOURCE_KEYS,
  ...BULK_KEYS,
  ...APP_KEYS,
  ...CONNECT_KEYS,
  ...ENVIRONMENT_KEYS,
  ...WEBHOOK_KEYS,
  ...AUTH_KEYS,
  ...TELEMETRY_KEYS,
  ...ALERT_KEYS,
  ...REALTIME_KEYS,
  ...SHARED_KEYS,
};

const KEYS_OF_PARTITIONS = {
  ...EVENT_KEYS,
  ...RUN_KEYS,
  ...ERROR_KEYS,
  ...FLOW_CONTROL_KEYS,
  ...WEBHOOK_LOG_KEYS,
  ...PARTITION_KEYS,
};

function installationKeyspace(prefix: string) {
  return { ...keysOf(prefix, INSTALLATION_KEYS), /** Prefix of the installation's own keys. */ prefix };
}

function partitionKeyspace(prefix: string, number: number) {
  return { ...keysOf(prefix, KEYS_OF_PARTITIONS), /** Prefix with the hash tag. */ prefix, number };
}

/** Documentation of all keys for docs/redis.md. */
export const KEY_DECLARATIONS_BY_ROOM = {
  events: { ...EVENT_KEYS, ...EVENT_SOURCE_KEYS },
  runs: RUN_KEYS,
  errors: ERROR_KEYS,
  bulk: BULK_KEYS,
  'flow-control': FLOW_CONTROL_KEYS,
  apps: APP_KEYS,
  connect: CONNECT_KEYS,
  environments: ENVIRONMENT_KEYS,
  webhooks: { ...WEBHOOK_KEYS, ...WEBHOOK_LOG_KEYS },
  auth: AUTH_KEYS,
  telemetry: TELEMETRY_KEYS,
  alerts: ALERT_KEYS,
  realtime: REALTIME_KEYS,
  shared: { ...SHARED_KEYS, ...PARTITION_KEYS },
};

/** First words of partition keys; all others belong to the installation. */
export const PARTITION_KEY_WORDS: ReadonlySet<string> = new Set(
  Object.values(KEY_DECLARATIONS_BY_ROOM)
    .flatMap((declarations): [string, KeyDeclaration][] => Object.entries(declarations))
    .filter(([name]) => name in KEYS_OF_PARTITIONS)
    .map(([, { pattern }]) => pattern.split(':')[0] as string),
);

/** First words of keys that belong to an environment and are deleted with it (environment-data.ts): `<word>:<env>…`. */
export const ENVIRONMENT_KEY_WORDS: readonly string[] = [
  ...new Set(
    Object.values(KEY_DECLARATIONS_BY_ROOM)
      .flatMap((declarations): KeyDeclaration[] => Object.values(declarations))
      .filter(({ pattern, type }) => pattern.split(':')[1] === '<env>' && type !== 'channel')
      .map(({ pattern }) => pattern.slice(0, pattern.indexOf(':'))),
  ),
];
