/** How Redis is: what it runs as, what it holds, and what of its settings may lose something. */
import type { Redis } from './connection.ts';

const MIN_MAJOR = 7;
const NEARLY_FULL = 0.8;

export interface ServerInfo {
  version: string;
  usedMemoryBytes: number;
  /** undefined: as much as there is */
  maxMemoryBytes: number | undefined;
  maxmemoryPolicy: string;
  appendonly: boolean;
  /** undefined: this Redis does not tell */
  appendfsync: string | undefined;
  warnings: string[];
}

export async function readServerInfo(redis: Redis): Promise<ServerInfo> {
  const [info, appendfsync] = await Promise.all([
    redis.info(),
    // Hosted ones forbid CONFIG.
    redis.config('GET', 'appendfsync').then(
      (reply) => (reply as string[])[1],
      () => undefined,
    ),
  ]);
  const { usedBytes = 0, maxBytes } = memoryOf(info);
  const status = {
    version: factOf(info, 'redis_version'),
    usedMemoryBytes: usedBytes,
    maxMemoryBytes: maxBytes || undefined,
    maxmemoryPolicy: factOf(info, 'maxmemory_policy'),
    appendonly: factOf(info, 'aof_enabled') === '1',
    appendfsync,
  };
  return { ...status, warnings: warningsOf(status) };
}

/** @param info what the command INFO has answered
 *  @returns empty where it does not tell */
export function factOf(info: string, name: string): string {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
}

/** `maxBytes` 0: as much as there is. `usedBytes` undefined: it does not tell. */
export function memoryOf(info: string): { usedBytes: number | undefined; maxBytes: number } {
  const used = factOf(info, 'used_memory');
  return { usedBytes: used === '' ? undefined : Number(used), maxBytes: Number(factOf(info, 'maxmemory')) };
}

function warningsOf(status: Omit<ServerInfo, 'warnings'>): string[] {
  const { version, usedMemoryBytes, maxMemoryBytes, maxmemoryPolicy, appendonly, appendfsync } = status;
  const warnings: string[] = [];
  if (Number.parseInt(version, 10) < MIN_MAJOR)
    warnings.push(`Redis ${version} is too old; Tidegate needs 7.0 or newer.`);
  if (maxmemoryPolicy !== 'noeviction') {
    warnings.push(
      `maxmemory-policy is ${maxmemoryPolicy}: Redis drops accepted events when memory runs out. Set noeviction.`,
    );
  }
  if (!appendonly) warnings.push('appendonly is off: accepted events are lost when Redis crashes. Turn it on.');
  if (appendonly && appendfsync === 'no') {
    warnings.push(
      'appendfsync is no: up to half a minute of events is lost when the machine fails. Set everysec or always.',
    );
  }
  if (maxMemoryBytes !== undefined && usedMemoryBytes > NEARLY_FULL * maxMemoryBytes) {
    warnings.push(
      `Redis uses ${Math.floor((100 * usedMemoryBytes) / maxMemoryBytes)} % of its memory; the service rejects events when it is full.`,
    );
  }
  return warnings;
}
