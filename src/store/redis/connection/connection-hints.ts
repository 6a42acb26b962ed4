/** Explains failed connections to Redis: the original message of Redis, TLS or the network, plus a hint if the message
 *  does not say what to do. */
import type { RedisServers } from '../../../config.ts';

type Hint = [pattern: RegExp, withTls: boolean | undefined, hint: string];

const HINTS: readonly Hint[] = [
  [
    /ETIMEDOUT|wrong version number|packet length too long|socket disconnected before secure/i,
    true,
    'where the port answers without TLS, the URL begins with redis://, not rediss://',
  ],
  [
    /ECONNRESET|EPIPE|no response within|ended by the other party|Connection is closed|RESP type|Protocol error/i,
    false,
    'where the port needs TLS, the URL begins with rediss://',
  ],
  [
    /self-signed certificate|unable to (?:verify|get)|certificate/i,
    true,
    "if the certificate is right, as Heroku's is, set REDIS_TLS_VERIFY=false",
  ],
  [/^NOAUTH/, undefined, 'the URL needs a password: redis://:<password>@host'],
  [/^WRONGPASS|invalid password/i, undefined, 'check user and password in the URL'],
  [/^NOPERM/, undefined, 'the service needs all commands on its keys and channels: ~* &* +@all'],
];

/** @param message the error's message */
export function withHint(message: string, servers: Pick<RedisServers, 'url' | 'clusterUrls'>): string {
  const url = servers.clusterUrls?.[0] ?? servers.url;
  const usesTls = url.startsWith('rediss:');
  const hint = HINTS.find(
    ([pattern, withTls]) => pattern.test(message) && (withTls === undefined || withTls === usesTls),
  )?.[2];
  return hint === undefined ? message : `${message.replace(/\.$/, '')} (${hint})`;
}
