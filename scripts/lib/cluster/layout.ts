/** Ports of a cluster's nodes. A cluster that keeps its data keeps them in a file beside it: the nodes find each other by the addresses that they
 *  have stored. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isFree } from '../ports.ts';

export interface Layout {
  primaries: number;
  /** Port for clients, port for the other nodes. */
  ports: [number, number][];
  /** false: its creation was interrupted, so it contains nothing. */
  isComplete: boolean;
}

const FILE = 'cluster.json';
/** Where a node stores what it knows of the cluster. */
export const NODES_FILE = 'nodes.conf';

export function nodeDir(dir: string, index: number): string {
  return join(dir, `node-${index}`);
}

export function readLayout(dir: string): Layout | undefined {
  const file = join(dir, FILE);
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, 'utf8')) as Layout;
}

export function writeLayout(dir: string, layout: Layout): void {
  writeFileSync(join(dir, FILE), JSON.stringify(layout));
}

export async function newLayout(primaries: number, replicas: number): Promise<Layout> {
  const taken = new Set<number>();
  const next = async (): Promise<number> => {
    for (;;) {
      const port = await freePort();
      if (taken.has(port)) continue;
      taken.add(port);
      return port;
    }
  };
  const ports: [number, number][] = [];
  for (let node = 0; node < primaries * (1 + replicas); node++) ports.push([await next(), await next()]);
  return { primaries, ports, isComplete: false };
}

/** Replaces ports that other programs took in the meantime, also where nodes have stored them. */
export async function withFreePorts(dir: string, layout: Layout): Promise<Layout> {
  const replaced = new Map<string, string>();
  const ports: [number, number][] = [];
  for (const [port, busPort] of layout.ports) {
    if ((await isFree(port)) && (await isFree(busPort))) ports.push([port, busPort]);
    else {
      const now: [number, number] = [await freePort(), await freePort()];
      ports.push(now);
      replaced.set(`:${port}@${busPort}`, `:${now[0]}@${now[1]}`);
    }
  }
  for (const index of replaced.size > 0 ? ports.keys() : []) replaceAddresses(nodeDir(dir, index), replaced);
  return { ...layout, ports };
}

function replaceAddresses(dir: string, replaced: ReadonlyMap<string, string>): void {
  const file = join(dir, NODES_FILE);
  if (!existsSync(file)) return;
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace(/:\d+@\d+/g, (address) => replaced.get(address) ?? address),
  );
}

/** Deletes what an interrupted creation left. */
export function removeRemains(dir: string, { ports }: Layout): void {
  for (const index of ports.keys()) rmSync(nodeDir(dir, index), { recursive: true, force: true });
}
