/** The settings of a cluster's nodes. */
import { LOOPBACK } from '../ports.ts';
import { NODES_FILE } from './layout.ts';
import type { ClusterNode, Credentials } from './node.ts';

export interface NodeSettings {
  /** A node that does not respond for this long has failed, and a replica takes over. */
  nodeTimeoutMs: number;
  appendonly: 'yes' | 'no';
  /** always: Redis responds after syncing to disk. */
  appendfsync: 'always' | 'everysec' | 'no';
  credentials?: Credentials;
}

export function nodeArguments({ port, busPort, dir }: ClusterNode, settings: NodeSettings): string[] {
  const { nodeTimeoutMs, appendonly, appendfsync, credentials } = settings;
  const all: Record<string, string | string[]> = {
    port: String(port),
    bind: LOOPBACK,
    dir,
    'cluster-enabled': 'yes',
    'cluster-port': String(busPort),
    'cluster-config-file': NODES_FILE,
    'cluster-node-timeout': String(nodeTimeoutMs),
    // The other primaries go on while one is down.
    'cluster-require-full-coverage': 'no',
    // A replica stays with its primary, also when that has given all its hash slots away.
    'cluster-allow-replica-migration': 'no',
    appendonly,
    appendfsync,
    save: '',
    'maxmemory-policy': 'noeviction',
    loglevel: 'warning',
    // A replica syncs at once; by default a primary waits 5 s for more of them.
    'repl-diskless-sync-delay': '0',
    // Even if it cannot save, and without waiting for replicas, which end at the same time.
    'shutdown-on-sigterm': ['force', 'now'],
    ...accessSettings(credentials),
  };
  return Object.entries(all).flatMap(([name, value]) => [`--${name}`, ...(Array.isArray(value) ? value : [value])]);
}

function accessSettings(credentials: Credentials | undefined): Record<string, string | string[]> {
  if (!credentials) return {};
  const { user, password } = credentials;
  if (user === undefined) return { requirepass: password, masterauth: password };
  return { user: [user, 'on', `>${password}`, '~*', '&*', '+@all'], masteruser: user, masterauth: password };
}
