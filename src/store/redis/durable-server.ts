/** Whether a Redis can promise that a write is on its disk, and how the service knows. Before 7.2 it needs `appendfsync always`: then it answers a
 *  write after the sync. Later versions have WAITAOF (disk-barrier.ts). What cannot be checked is not promised. */
import { ConfigError } from '../../config.ts';
import { type Redis, translateAway } from './connection.ts';
import { infoField } from './server-info.ts';

export interface DurableServer {
  /** Changes with each start of Redis. */
  runId: string;
  /** WAITAOF tells when a write is on the disk; false: Redis answers a write after the sync. */
  hasWaitAof: boolean;
  /** It syncs every write before it answers; false: later, or unknown. */
  syncsAtOnce: boolean;
}

/** With WAITAOF any sync is enough. */
const NEEDED_WITH_WAITAOF: Record<string, string[]> = { appendonly: ['yes'], appendfsync: ['always', 'everysec'] };
const NEEDED_OTHERWISE: Record<string, string[]> = {
  appendonly: ['yes'],
  appendfsync: ['always'],
  // With yes, Redis syncs nothing while it rewrites its file, regardless of appendfsync.
  'no-appendfsync-on-rewrite': ['no'],
};
const OR_LESS = 'or set INGEST_DURABILITY=redis, which guarantees less';

/** @throws ConfigError when the server cannot promise it; ServiceError unavailable when it does not answer */
export async function durableServer(redis: Redis): Promise<DurableServer> {
  const info = await redis.info('server', 'persistence').catch((error) => {
    throw translateAway(error);
  });
  const version = infoField(info, 'redis_version');
  const waitAof = hasWaitAof(version);
  const { settings, unreadable } = await readSettings(redis);
  if (unreadable !== undefined && !waitAof) {
    throw refusal(
      version,
      `does not allow reading its settings (${unreadable}), so durability cannot be checked; ` +
        `allow CONFIG GET, use Redis 7.2 or newer, ${OR_LESS}`,
    );
  }
  const has: Record<string, string> = {
    ...settings,
    appendonly: infoField(info, 'aof_enabled') === '1' ? 'yes' : 'no',
  };
  const wrong = Object.entries(waitAof ? NEEDED_WITH_WAITAOF : NEEDED_OTHERWISE).filter(
    ([name, takes]) => has[name] !== undefined && !takes.includes(has[name]),
  );
  if (wrong.length > 0) {
    const got = wrong.map(([name]) => `${name} ${has[name]}`).join(', ');
    const takes = wrong.map(([name, values]) => `${name} ${values.join(' or ')}`).join(', ');
    throw refusal(version, `has ${got}; expected ${takes}: set it in redis.conf or with CONFIG SET, ${OR_LESS}`);
  }
  const syncsAtOnce = settings.appendfsync === 'always' && settings['no-appendfsync-on-rewrite'] !== 'yes';
  return { runId: infoField(info, 'run_id'), hasWaitAof: waitAof, syncsAtOnce };
}

function refusal(version: string, what: string): ConfigError {
  return new ConfigError(`INGEST_DURABILITY: got "fsync", but Redis ${version} ${what}`);
}

/** @param version of Redis, or the version that a fork says it is compatible with */
function hasWaitAof(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 7 || (major === 7 && minor >= 2);
}

/** `unreadable`: the reason. Hosted Redis often forbids CONFIG. */
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
