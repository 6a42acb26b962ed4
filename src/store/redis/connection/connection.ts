/** Connections to Redis, and the errors of an unavailable Redis. */
import hashSlotOf from 'cluster-key-slot';
import type { Cluster } from 'ioredis';
import type { Config } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import { type Logger, withoutArguments } from '../../../log.ts';
import { withHint } from './connection-hints.ts';
import { clusterOf, nodesByHashSlot, onEachServer, open, openNode, type Redis } from './servers.ts';
import { coalesceWrites } from './write-coalescing.ts';

export type { ScriptedPipeline, ScriptedRedis } from './scripts.ts';
export type { Redis };

const RECONNECT_MAX_MS = 1_000;
const COMMAND_TIMEOUT_MS = 2_000;
const RETRY_AFTER_SECONDS = 2;

/** Behavior of a connection while Redis is unavailable: a request fails soon, one that waits for the disk somewhat later; worker loops
 *  wait until Redis is back. */
export type RetryPolicy = 'fail-soon' | 'fail-late' | 'wait';

/** Redirections in a cluster count as attempts: a request waits for less than a second for a failover, a worker until the failover is over. */
const OPTIONS = {
  'fail-soon': {
    redis: { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: COMMAND_TIMEOUT_MS },
    cluster: { enableOfflineQueue: false, maxRedirections: 5 },
  },
  'fail-late': {
    redis: { maxRetriesPerRequest: 0, commandTimeout: 2 * COMMAND_TIMEOUT_MS + 1_000 },
    cluster: { maxRedirections: 16 },
  },
  wait: { redis: { maxRetriesPerRequest: null }, cluster: { maxRedirections: 100 } },
} as const satisfies Record<RetryPolicy, object>;

/** @param lazy connects with the first command */
export function connect(
  { redis: servers }: Pick<Config, 'redis'>,
  policy: RetryPolicy,
  log: Logger,
  { lazy = false }: { lazy?: boolean } = {},
): Redis {
  const options = OPTIONS[policy];
  const redis = open(servers, {
    redis: {
      ...options.redis,
      lazyConnect: lazy,
      connectTimeout: 5_000,
      retryStrategy,
      // Called with every error reply of Redis, before other handlers; inherited by duplicated connections.
      reconnectOnError: (error) => {
        removeArguments(error);
        return false;
      },
    },
    cluster: { ...options.cluster, lazyConnect: lazy },
  });
  // Not used if each command waits for the disk: then there are few commands at a time.
  if (policy !== 'fail-late') {
    onEachServer(redis, (server) => server.on('connect', () => coalesceWrites(server.stream)));
  }
  const warn = (error: Error) => log.warn({ err: withHint(error.message, servers), policy }, 'redis connection');
  redis.on('error', warn);
  clusterOf(redis)?.on('node error', warn);
  return redis;
}

/** Opens a separate connection to a primary of the cluster. It stays with the node even if its role changes; undefined if the address is
 *  unknown. */
export function connectNode(cluster: Cluster, address: string, policy: RetryPolicy, log: Logger): Redis | undefined {
  const redis = openNode(cluster, address, { ...OPTIONS[policy].redis, retryStrategy });
  return redis?.on('error', (error) => log.warn({ err: error.message, node: address, policy }, 'redis connection'));
}

function retryStrategy(tries: number): number {
  return Math.min(50 * 2 ** Math.min(tries, 10), RECONNECT_MAX_MS);
}

/** ioredis attaches the failed command with its arguments to the error: password hashes, sessions, payloads. They must not be logged. */
function removeArguments(error: Error & { command?: { name: string; args?: unknown } }): void {
  if (error.command) error.command = { name: error.command.name };
  error.message = withoutArguments(error.message);
  if (error.stack) error.stack = withoutArguments(error.stack);
}

/** Resolves once the connection is ready for commands. */
export async function ready(redis: {
  status: string;
  once(event: 'ready', listener: () => void): unknown;
}): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve) => redis.once('ready', resolve));
}

/** Errors of Redis and of the network, which name hosts and scripts and may appear only in the log, and the messages that clients get
 *  instead. */
const UNAVAILABLE: [error: RegExp, message: string][] = [
  [/\bOOM command not allowed/, 'Redis is full'],
  [/^READONLY/, 'Redis is read-only'],
  [/MISCONF/, 'Redis cannot save what it has'],
  [/^LOADING/, 'Redis is loading what it has saved'],
  [/^MASTERDOWN|^CLUSTERDOWN|^UNBLOCKED|cluster is down/, 'Redis has no master'],
  [
    /^(MOVED|ASK|TRYAGAIN)\b|Too many Cluster redirections|non local key|pipeline (command )?should belong/,
    'Redis is moving this data to another node',
  ],
  [
    /startup nodes is available|refresh slots cache|Cluster is (disconnect|ended)|Cluster isn't ready|Node is disconnected/,
    'there is no connection to Redis',
  ],
  [/^NOSCRIPT/, 'Redis has lost its scripts'],
  // The queues' counters hold no number because of a move (../move/fence.ts).
  [/^ERR value is not an integer or out of range script/, 'the installation moves to another Redis'],
  [/Command timed out|ETIMEDOUT/, 'Redis did not answer in time'],
  [
    /Connection is closed|aborted due to connection close|max retries per request|isn't writeable|Socket timeout|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
    'there is no connection to Redis',
  ],
];
/** Redis is reachable but rejects this service's commands. */
const REFUSES = /^-?(BUSY|NOAUTH|NOPERM|WRONGPASS|NOREPLICAS)\b/;
/** The same inside a script, in Redis 7.0 and 7.2. */
const REFUSES_SCRIPT = /user executing the script can't|ACL failure in script/;

/** Translates a failure of Redis or of the network for clients; returns any other error unchanged. */
export function toServiceError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error;
  const reason = reasonOf(error);
  const message = UNAVAILABLE.find(([pattern]) => pattern.test(reason))?.[1];
  if (message !== undefined) return unavailable(message, error);
  const refusal = REFUSES.exec(reason)?.[1] ?? (REFUSES_SCRIPT.test(reason) ? 'NOPERM' : undefined);
  return refusal === undefined ? error : unavailable(`Redis refuses commands (${refusal})`, error);
}

/** Whether Redis rejected the command or was unreachable: the data is fine, and the same write succeeds later. */
export function isStoreFailure(error: unknown): boolean {
  const translated = toServiceError(error);
  return translated instanceof ServiceError && (translated.code === 'unavailable' || translated.code === 'overloaded');
}

/** Whether Redis rejected the command because its memory is full. */
export function isOutOfMemory(thrown: unknown): boolean {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown;
  return error instanceof Error && reasonOf(error).includes('OOM command not allowed');
}

/** The message; for a discarded transaction, why its first command was rejected. */
function reasonOf({ message, previousErrors }: Error & { previousErrors?: Error[] }): string {
  return previousErrors?.[0]?.message ?? message;
}

export function unavailable(why: string, cause?: unknown): ServiceError {
  const detail = `${why}; send the same again after ${RETRY_AFTER_SECONDS} s`;
  return new ServiceError('unavailable', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

const PIPELINE_MAX = 1_000;
/** Fewer commands are cheaper without a pipeline, which takes 0.02 ms. */
const SINGLY_MAX = 2;

/** Command name, key and arguments. */
export type Command = (string | number | Buffer)[];

/** Replies to any number of commands, sent in pipelines of bounded size, so that other commands are not blocked. The second element of a
 *  command is its key: in a cluster, each node gets its own commands.
 *  @throws the first failed command's error */
export async function inPipelines<T>(redis: Redis, commands: readonly Command[]): Promise<T[]> {
  const nodes = nodesByHashSlot(redis);
  if (!nodes || commands.length === 0) return inOrder(redis, commands);
  const byNode = Map.groupBy(commands.keys(), (i) => {
    const hashSlot = hashSlotOf(String((commands[i] as Command)[1]));
    // Each hash slot with an unknown node has its own pipeline.
    return nodes[hashSlot]?.[0] ?? hashSlot;
  });
  const all = new Array<T>(commands.length);
  await Promise.all(
    [...byNode.values()].map(async (indexes) => {
      const found = await inOrder<T>(
        redis,
        indexes.map((i) => commands[i] as Command),
      );
      for (const [i, index] of indexes.entries()) all[index] = found[i] as T;
    }),
  );
  return all;
}

async function inOrder<T>(redis: Redis, commands: readonly Command[]): Promise<T[]> {
  const all: T[] = [];
  for (let start = 0; start < commands.length; start += PIPELINE_MAX) {
    const some = commands.slice(start, start + PIPELINE_MAX);
    if (commands.length <= SINGLY_MAX) return Promise.all(some.map((command) => sendOne<T>(redis, command)));
    for (const reply of replies<T>(await redis.pipeline(some as (string | number)[][]).exec())) all.push(reply);
  }
  return all;
}

function sendOne<T>(redis: Redis, [name, ...args]: Command): Promise<T> {
  const commands = redis as unknown as Record<string, (...args: Command) => Promise<T>>;
  return (commands[String(name)] as (typeof commands)[string]).apply(redis, args);
}

/** The replies of a pipeline; one failed command fails all.
 *  @throws the command's error */
export function replies<T>(results: [error: Error | null, result: unknown][] | null): T[] {
  return (results ?? []).map(([error, result]) => {
    if (error) throw error;
    return result as T;
  });
}
