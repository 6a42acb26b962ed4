/** Every key in Redis: those of the installation, and those of each partition. Each room declares its own, with their documentation for
 *  docs/redis.md. */
import { installationTag, partitionTag } from '../../model/partitions/hash-tags.ts';
import { PartitionLayout } from '../../model/partitions/layout.ts';
import { APP_KEY_DECLARATIONS, appKeys } from '../keys/apps.ts';
import { AUTH_KEY_DECLARATIONS, authKeys } from '../keys/auth.ts';
import { BULK_KEY_DECLARATIONS, bulkKeys } from '../keys/bulk.ts';
import { CONNECT_KEY_DECLARATIONS, connectKeys } from '../keys/connect.ts';
import { ENVIRONMENT_KEY_DECLARATIONS, environmentKeys } from '../keys/environments.ts';
import { ERROR_KEY_DECLARATIONS, errorKeys } from '../keys/errors.ts';
import { EVENT_KEY_DECLARATIONS, eventKeys, eventSourceKeys } from '../keys/events.ts';
import { FLOW_CONTROL_KEY_DECLARATIONS, flowControlKeys } from '../keys/flow-control.ts';
import type { KeyDeclaration } from '../keys/key-declaration.ts';
import { REALTIME_KEY_DECLARATIONS, realtimeKeys } from '../keys/realtime.ts';
import { RUN_KEY_DECLARATIONS, runKeys } from '../keys/runs.ts';
import { partitionKeys, SHARED_KEY_DECLARATIONS, sharedKeys } from '../keys/shared.ts';
import { TELEMETRY_KEY_DECLARATIONS, telemetryKeys } from '../keys/telemetry.ts';
import { WEBHOOK_KEY_DECLARATIONS, webhookKeys, webhookLogKeys } from '../keys/webhooks.ts';

export type PartitionKeyspace = ReturnType<typeof partitionKeyspace>;
type InstallationKeyspace = ReturnType<typeof installationKeyspace>;

export interface Keyspace extends InstallationKeyspace {
  /** Keys of the partition of an ID: of an event, a run or a webhook. */
  of(id: string): PartitionKeyspace;
  partition(n: number): PartitionKeyspace;
  /** Keys of all partitions, in order. */
  all(): PartitionKeyspace[];
  /** Keys of the partitions that may have data of a name, such as waits for an event name; the present one first. */
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

function installationKeyspace(prefix: string) {
  return {
    /** Prefix of the installation's own keys. */
    prefix,
    ...eventSourceKeys(prefix),
    ...bulkKeys(prefix),
    ...appKeys(prefix),
    ...connectKeys(prefix),
    ...environmentKeys(prefix),
    ...webhookKeys(prefix),
    ...authKeys(prefix),
    ...telemetryKeys(prefix),
    ...realtimeKeys(prefix),
    ...sharedKeys(prefix),
  };
}

function partitionKeyspace(prefix: string, number: number) {
  return {
    /** Prefix with the hash tag. */
    prefix,
    number,
    ...eventKeys(prefix),
    ...runKeys(prefix),
    ...errorKeys(prefix),
    ...flowControlKeys(prefix),
    ...webhookLogKeys(prefix),
    ...partitionKeys(prefix),
  };
}

/** Documentation of all keys for docs/redis.md. */
export const KEY_DECLARATIONS_BY_ROOM = {
  events: EVENT_KEY_DECLARATIONS,
  runs: RUN_KEY_DECLARATIONS,
  errors: ERROR_KEY_DECLARATIONS,
  bulk: BULK_KEY_DECLARATIONS,
  'flow-control': FLOW_CONTROL_KEY_DECLARATIONS,
  apps: APP_KEY_DECLARATIONS,
  connect: CONNECT_KEY_DECLARATIONS,
  environments: ENVIRONMENT_KEY_DECLARATIONS,
  webhooks: WEBHOOK_KEY_DECLARATIONS,
  auth: AUTH_KEY_DECLARATIONS,
  telemetry: TELEMETRY_KEY_DECLARATIONS,
  realtime: REALTIME_KEY_DECLARATIONS,
  shared: SHARED_KEY_DECLARATIONS,
};

/** First words of partition keys; all others belong to the installation. */
export const PARTITION_KEY_WORDS: ReadonlySet<string> = new Set(
  Object.values(KEY_DECLARATIONS_BY_ROOM)
    .flatMap((declarations): [string, KeyDeclaration][] => Object.entries(declarations))
    .filter(([name]) => name in partitionKeyspace('', 0))
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
