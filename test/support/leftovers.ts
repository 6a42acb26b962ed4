/** Detects leftovers of tests: child processes, open servers and connections, Redis keys. */
import { listChildren } from '../../scripts/lib/processes.ts';
import { connectNodes, isCluster, keysOf, type Redis } from './redis.ts';
import { until } from './until.ts';

/** Node's names of resources that keep a process alive, and readable names. */
const RESOURCES: Record<string, string> = {
  TCPServerWrap: 'a listening server',
  TCPSocketWrap: 'an open connection',
  PipeServerWrap: 'a listening pipe',
  Worker: 'a worker thread',
};

/** In the command line of the browser, which the suites share (browser.ts). */
const BROWSER = '--remote-debugging-pipe';

export interface Leftovers {
  /** @throws with resources that did not exist at the start and do not disappear */
  check(): Promise<void>;
  close(): Promise<void>;
}

export async function watchLeftovers(): Promise<Leftovers> {
  const redis = isCluster || process.env.REDIS_URL ? connectNodes() : [];
  await Promise.all(redis.map((node) => node.ping()));
  const before = new Set(await present(redis));
  const left = async () => (await present(redis)).filter((thing) => !before.has(thing));
  return {
    async check() {
      let things: string[] = [];
      const gone = async () => {
        things = await left();
        return things.length === 0;
      };
      try {
        await until(gone, { describe: () => `what these tests made is gone: ${things.join(', ')}` });
      } finally {
        // Reported only once.
        for (const thing of things) before.add(thing);
      }
    },
    async close() {
      await Promise.all(redis.map((node) => node.quit()));
    },
  };
}

async function present(redis: readonly Redis[]): Promise<string[]> {
  // Replicas have the keys of their primaries.
  const keys = (await Promise.all(redis.map((node) => keysOf(node)))).flat();
  const children = listChildren().filter(({ command }) => !command.includes(BROWSER));
  return [
    ...children.map(({ pid, command }) => `process ${pid} (${command})`),
    ...openResources(),
    ...new Set(keys.map((key) => `key ${key}`)),
  ];
}

/** Numbered, to distinguish several servers. */
function openResources(): string[] {
  const seen: Record<string, number> = {};
  return process.getActiveResourcesInfo().flatMap((name) => {
    const what = RESOURCES[name];
    if (!what) return [];
    seen[name] = (seen[name] ?? 0) + 1;
    return [`${what} (${name} ${seen[name]})`];
  });
}
