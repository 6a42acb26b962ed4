/** Version, memory and settings of Redis, with warnings about settings that may lose data. */
import type { Redis } from './connection.ts';

const MIN_MAJOR = 7;
const NEARLY_FULL = 0.8;

export interface ServerInfo {
  version: string;
  usedMemoryBytes: number;
  /** undefined: no limit */
  maxMemoryBytes: number | undefined;
  maxmemoryPolicy: string;
  appendonly: boolean;
  /** undefined: unknown */
  appendfsync: string | undefined;
  warnings: string[];
}

export async function readServerInfo(redis: Redis): Promise<ServerInfo> {
  const [info, appendfsync] = await Promise.all([
    redis.info(),
    // Hosted Redis often forbids CONFIG.
    redis.config('GET', 'appendfsync').then(
      (reply) => (reply as string[])[1],
      () => undefined,
    ),
  ]);
  const { usedBytes = 0, maxBytes } = memoryOf(info);
  const status = {
    version: infoField(info, 'redis_version'),
    usedMemoryBytes: usedBytes,
    maxMemoryBytes: maxBytes || undefined,
    maxmemoryPolicy: infoField(info, 'maxmemory_policy'),
    appendonly: infoField(info, 'aof_enabled') === '1',
    appendfsync,
  };
  return { ...status, warnings: warningsOf(status) };
}

/** @param info reply to the command INFO
 *  @returns empty where the reply has no such field */
export function infoField(info: string, name: string): string {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
}

/** `maxBytes` 0: no limit. `usedBytes` undefined: unknown. */
export function memoryOf(info: string): { usedBytes: number | undefined; maxBytes: number } {
  const used = infoField(info, 'used_memory');
  return { usedBytes: used === '' ? undefined : Number(used), maxBytes: Number(infoField(info, 'maxmemory')) };
}

/** Of several servers, the one that has the smallest part of its memory left. */
export function fullest(servers: readonly ReturnType<typeof memoryOf>[]): ReturnType<typeof memoryOf> {
  const usedPart = ({ usedBytes = 0, maxBytes }: ReturnType<typeof memoryOf>) =>
    maxBytes > 0 ? usedBytes / maxBytes : 0;
  const [first = { usedBytes: undefined, maxBytes: 0 }, ...others] = servers;
  return others.reduce((most, one) => {
    if (usedPart(one) !== usedPart(most)) return usedPart(one) > usedPart(most) ? one : most;
    return (one.usedBytes ?? 0) > (most.usedBytes ?? 0) ? one : most;
  }, first);
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
