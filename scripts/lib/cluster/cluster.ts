/** A Redis Cluster on this machine, for development, tests, fault injection and measurements: starts, breaks, repairs and stops it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join as joinPath } from 'node:path';
import { type ClusterOptions as ClientOptions, Cluster } from 'ioredis';
import { LOOPBACK } from '../ports.ts';
import { Problem } from '../problem.ts';
import { findRedis, type RedisProgram } from '../redis-program.ts';
import { join } from './join.ts';
import type { Order, Report } from './keeper.ts';
import { type Layout, newLayout, nodeDir, readLayout, removeRemains, withFreePorts, writeLayout } from './layout.ts';
import { ClusterNode } from './node.ts';
import { type NodeSettings, nodeArguments } from './node-arguments.ts';
import { isComplete, type NodeView, ownersOf, rolesIn } from './view.ts';
import { waitUntil } from './wait.ts';

const KEEPER = joinPath(import.meta.dirname, `keeper${extname(import.meta.filename)}`);
const START_MS = 30_000;
const DEFAULT_NODE_TIMEOUT_MS = 1_500;

export interface ClusterOptions extends Partial<NodeSettings> {
  /** Default 3, the fewest that can agree that one of them has failed. */
  primaries?: number;
  /** Per primary; default 1. */
  replicas?: number;
  /** Keeps its data here between starts. Default: a temporary folder. */
  dir?: string;
  /** Default: the installed Redis. */
  program?: RedisProgram;
}

/** @throws Problem with Redis's own message if a node does not start */
export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { primaries = 3, replicas = 1, dir, program = findRedis() } = options;
  const folder = dir ?? mkdtempSync(joinPath(tmpdir(), 'tidegate-cluster-'));
  mkdirSync(folder, { recursive: true });
  const earlier = readLayout(folder);
  const isNew = !earlier?.isComplete;
  if (earlier && isNew) removeRemains(folder, earlier);
  const layout = isNew ? await newLayout(primaries, replicas) : await withFreePorts(folder, earlier);
  writeLayout(folder, layout);
  const settings: NodeSettings = {
    nodeTimeoutMs: DEFAULT_NODE_TIMEOUT_MS,
    appendonly: 'yes',
    appendfsync: 'everysec',
    ...options,
  };
  const cluster = new RedisCluster(folder, dir === undefined, layout, settings, program);
  try {
    await Promise.all(cluster.nodes.map((node) => cluster.start(node)));
    if (isNew) await join(cluster.nodes, primaries);
    await cluster.waitUntilHealthy(START_MS);
    if (isNew) writeLayout(folder, { ...layout, isComplete: true });
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

export class RedisCluster {
  /** In a new cluster the primaries first, then a replica of each in the same order. Failovers change the roles. */
  readonly nodes: readonly ClusterNode[];
  /** Resolves when a node ends that nobody stopped. */
  readonly lost: Promise<string>;
  readonly #dir: string;
  readonly #isTemporary: boolean;
  readonly settings: NodeSettings;
  readonly #program: RedisProgram;
  readonly #keeper: ChildProcess;
  /** Nodes that are told to end. */
  readonly #ending = new Set<number>();

  constructor(dir: string, isTemporary: boolean, layout: Layout, settings: NodeSettings, program: RedisProgram) {
    this.#dir = dir;
    this.#isTemporary = isTemporary;
    this.settings = settings;
    this.#program = program;
    this.nodes = layout.ports.map(
      (ports, index) => new ClusterNode(index, ports, nodeDir(dir, index), settings.credentials),
    );
    // Its own session, so that Ctrl-C in the terminal does not stop Redis before the programs that use it.
    this.#keeper = fork(KEEPER, { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#keeper.setMaxListeners(0);
    const lost = Promise.withResolvers<string>();
    this.lost = lost.promise;
    this.#keeper.on('message', (report: Report) => {
      const node = this.nodes[report.node] as ClusterNode;
      node.pid = 'pid' in report ? report.pid : undefined;
      if (!('ended' in report)) return;
      node.isPaused = false;
      if (!this.#ending.delete(node.index)) lost.resolve(`node ${node.index}: ${report.ended}\n${report.output}`);
    });
  }

  /** Addresses of all nodes, to give to clients as seeds. */
  get urls(): string[] {
    return this.nodes.map(({ url }) => url);
  }

  /** A client of the whole cluster. */
  connect(options: Omit<ClientOptions, 'redisOptions'> = {}): Cluster {
    const { user, password } = this.settings.credentials ?? {};
    const seeds = this.nodes.map(({ port }) => ({ host: LOOPBACK, port }));
    const redisOptions = { ...(user && { username: user }), ...(password && { password }) };
    return new Cluster(seeds, { ...options, redisOptions }).on('error', () => {});
  }

  /** Starts a node that does not run. Resolves when it responds with its data loaded.
   *  @throws Problem with Redis's own message */
  async start(node: ClusterNode): Promise<void> {
    mkdirSync(node.dir, { recursive: true });
    const { file, argv0 } = this.#program;
    const ended = Promise.withResolvers<never>();
    const onReport = (report: Report) => {
      if (report.node !== node.index || !('ended' in report)) return;
      ended.reject(new Problem(`Redis did not start in ${node.dir} (${report.ended}):\n${report.output}`));
    };
    this.#keeper.on('message', onReport);
    ended.promise.catch(() => {});
    try {
      this.#keeper.send({ node: node.index, file, argv0, args: nodeArguments(node, this.settings) } satisfies Order);
      const ready = waitUntil(
        async () => {
          if ((await node.info('persistence')).loading !== '0') return undefined;
          node.id = (await node.admin.cluster('MYID')) as string;
          return node.id;
        },
        `node ${node.index} responds`,
        START_MS,
      );
      await Promise.race([ready, ended.promise]);
    } finally {
      this.#keeper.off('message', onReport);
    }
  }

  async kill(node: ClusterNode): Promise<void> {
    await this.#end(node, 'SIGKILL');
  }

  async terminate(node: ClusterNode): Promise<void> {
    await this.#end(node, 'SIGTERM');
  }

  /** It keeps its connections and does not respond. */
  pause(node: ClusterNode): void {
    if (node.pid === undefined) return;
    process.kill(node.pid, 'SIGSTOP');
    node.isPaused = true;
  }

  resume(node: ClusterNode): void {
    if (node.pid !== undefined) process.kill(node.pid, 'SIGCONT');
    node.isPaused = false;
  }

  /** The cluster as a node sees it that responds. */
  async view(): Promise<NodeView[]> {
    const node = this.nodes.find(({ responds }) => responds);
    if (!node) throw new Error('No node of the cluster responds');
    return node.view();
  }

  /** Nodes that have hash slots. */
  async primaries(): Promise<ClusterNode[]> {
    const view = await this.view();
    return this.nodes.filter(({ id }) => view.some((one) => one.id === id && one.isPrimary && one.ranges.length > 0));
  }

  async replicasOf(node: ClusterNode): Promise<ClusterNode[]> {
    const view = await this.view();
    return this.nodes.filter(({ id }) => view.some((one) => one.id === id && one.primaryId === node.id));
  }

  /** The primary that has the key. */
  async ownerOf(key: string): Promise<ClusterNode> {
    const responding = this.nodes.find(({ responds }) => responds);
    const hashSlot = Number(await responding?.admin.cluster('KEYSLOT', key));
    const owner = (await this.view()).find(({ ranges }) =>
      ranges.some(([first, last]) => first <= hashSlot && hashSlot <= last),
    );
    const node = this.nodes.find(({ id }) => id === owner?.id);
    if (!node) throw new Error(`No node has the hash slot ${hashSlot} of ${key}`);
    return node;
  }

  /** Resolves when the responding nodes agree on which of them serve which hash slots, and that all are served: after a failure, when a replica
   *  was promoted. */
  async waitUntilServed(timeoutMs = START_MS): Promise<void> {
    const check = async () => {
      const nodes = this.nodes.filter(({ responds }) => responds);
      const ids = new Set(nodes.map(({ id }) => id));
      const views = await Promise.all(
        nodes.map(async (node) => {
          const isOk = ((await node.admin.cluster('INFO')) as string).includes('cluster_state:ok');
          const view = (await node.view()).filter(({ id }) => ids.has(id));
          return isOk && isComplete(view) ? ownersOf(view) : undefined;
        }),
      );
      return new Set(views).size === 1 ? views[0] : undefined;
    };
    await waitUntil(check, 'all hash slots are served', timeoutMs);
  }

  /** The same, and all nodes run and agree who replicates whom, and all replicas follow. */
  async waitUntilHealthy(timeoutMs = START_MS): Promise<void> {
    await this.waitUntilServed(timeoutMs);
    const check = async () => {
      const seen = await Promise.all(
        this.nodes.map(async (node) => {
          const { role, master_link_status, master_sync_in_progress } = await node.info('replication');
          const isFollowing = master_link_status === 'up' && master_sync_in_progress === '0';
          const others = await node.view();
          const isFine = (role === 'master' || isFollowing) && others.every(({ hasFailed }) => !hasFailed);
          return isFine && rolesIn(others);
        }),
      );
      // A primary that was replaced believes to be one until another tells it.
      return seen.every((roles) => roles !== false && roles === seen[0]) || undefined;
    };
    await waitUntil(check, 'all nodes run, and all replicas follow', timeoutMs);
  }

  /** Saves data that is kept; deletes a temporary folder. */
  async stop(): Promise<void> {
    const isGone = this.#keeper.exitCode !== null || this.#keeper.signalCode !== null;
    for (const node of this.nodes) node.disconnect();
    const running = this.nodes.filter(({ pid }) => pid !== undefined);
    for (const node of running) this.resume(node);
    if (this.#isTemporary) await Promise.all(running.map((node) => this.kill(node)));
    for (const node of this.nodes) this.#ending.add(node.index);
    if (!isGone) {
      const exited = once(this.#keeper, 'exit');
      this.#keeper.kill('SIGTERM');
      await exited;
    }
    if (this.#isTemporary) rmSync(this.#dir, { recursive: true, force: true });
  }

  async #end(node: ClusterNode, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { pid } = node;
    if (pid === undefined) return;
    this.#ending.add(node.index);
    node.disconnect();
    process.kill(pid, signal);
    while (node.pid === pid) await once(this.#keeper, 'message');
  }
}
