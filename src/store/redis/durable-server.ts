/** Whether a Redis can promise that what it was given is on its disk, and how one knows. Before 7.2 it has to have `appendfsync always`:
 *  then it answers a write when it has synced it. Later ones are asked (disk-barrier.ts). What cannot be checked is not promised. */
import { ConfigError } from '../../config.ts';
import { type Redis, translateAway } from './connection.ts';
import { factOf } from './server-info.ts';

export interface DurableServer {
  /** Another at each start of a Redis. */
  runId: string;
  /** It is asked when a write is on its disk; false: it answers no sooner. */
  asked: boolean;
  /** It syncs what it is given at once; false: some time later, or it does not tell. */
  syncsAtOnce: boolean;
}

/** A Redis with WAITAOF syncs sooner or later, unless it is told never to. */
const NEEDED_WHERE_ASKED: Record<string, string[]> = { appendonly: ['yes'], appendfsync: ['always', 'everysec'] };
const NEEDED_OTHERWISE: Record<string, string[]> = {
  appendonly: ['yes'],
  appendfsync: ['always'],
  // With yes, Redis syncs nothing while it rewrites its file, whatever appendfsync says.
  'no-appendfsync-on-rewrite': ['no'],
};
const OR_LESS = 'or set INGEST_DURABILITY=redis, which guarantees less';

/** @throws ConfigError when the server cannot promise it; ServiceError unavailable when it does not answer */
export async function durableServer(redis: Redis): Promise<DurableServer> {
  const info = await redis.info('server', 'persistence').catch((error) => {
    throw translateAway(error);
  });
  const version = factOf(info, 'redis_version');
  const asked = hasWaitAof(version);
  const { settings, unreadable } = await readSettings(redis);
  if (unreadable !== undefined && !asked) {
    throw refusal(
      version,
      `does not allow reading its settings (${unreadable}), so durability cannot be checked; ` +
        `allow CONFIG GET, use Redis 7.2 or newer, ${OR_LESS}`,
    );
  }
  const has: Record<string, string> = { ...settings, appendonly: factOf(info, 'aof_enabled') === '1' ? 'yes' : 'no' };
  const wrong = Object.entries(asked ? NEEDED_WHERE_ASKED : NEEDED_OTHERWISE).filter(
    ([name, takes]) => has[name] !== undefined && !takes.includes(has[name]),
  );
  if (wrong.length > 0) {
    const got = wrong.map(([name]) => `${name} ${has[name]}`).join(', ');
    const takes = wrong.map(([name, values]) => `${name} ${values.join(' or ')}`).join(', ');
    throw refusal(version, `has ${got}; expected ${takes}: set it in redis.conf or with CONFIG SET, ${OR_LESS}`);
  }
  const syncsAtOnce = settings.appendfsync === 'always' && settings['no-appendfsync-on-rewrite'] !== 'yes';
  return { runId: factOf(info, 'run_id'), asked, syncsAtOnce };
}

function refusal(version: string, what: string): ConfigError {
  return new ConfigError(`INGEST_DURABILITY: got "fsync", but Redis ${version} ${what}`);
}

/** @param version of Redis, or the one that a relative of it says it is compatible with */
function hasWaitAof(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 7 || (major === 7 && minor >= 2);
}

/** `unreadable`: why not. Hosted ones often forbid CONFIG. */
async function readSettings(redis: Redis): Promise<{ settings: Record<string, string>; unreadable?: string }> {
  try {
    const reply = (await redis.config('GET', 'appendfsync', 'no-appendfsync-on-rewrite')) as string[];
    const settings: Record<string, string> = {};
    for (let at = 0; at + 1 < reply.length; at += 2) settings[reply[at] as string] = reply[at + 1] as string;
    return { settings };
  } catch (error) {
    const { message } = error as Error;
    const translated = translateAway(error);
    if (translated !== error && !message.startsWith('NOPERM')) throw translated;
    return { settings: {}, unreadable: message };
  }
}
