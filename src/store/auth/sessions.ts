/** Sessions of signed-in users, by the digest of their token. A session ends after 12 idle hours, or after a week at most. It also
 *  ends when the user changes the password (which changes the user's `version`) or is deleted, and when the provider at which the user
 *  signed in says so. */
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import type { Identity, User } from '../../model/auth/user.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { Repository } from '../redis/repository.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import type { Users } from './users.ts';

const IDLE_MS = 12 * HOUR_MS;
const LONGEST_MS = 7 * 24 * HOUR_MS;

/** The session at the provider at which the user signed in. */
export interface ProviderSession extends Identity {
  /** ID of the provider. */
  provider: string;
  /** The provider's ID of its session; undefined if it gives none. */
  sid?: string | undefined;
  /** The ID token, sealed; empty if it is too long. */
  idToken: string;
}

interface Session {
  userId: string;
  version: string;
  /** Unix milliseconds. */
  startedAt: number;
  of?: ProviderSession | undefined;
}

/** What a provider has ended. */
export interface Ended {
  sid?: string | undefined;
  subject?: string | undefined;
}

export class Sessions extends Repository<ScriptedRedis, { users: Users }> {
  /** @returns the token, which only the browser stores */
  async start({ id, version }: User, nowMs: number, of?: ProviderSession): Promise<string> {
    const token = newSecret();
    const session: Session = { userId: id, version, startedAt: nowMs, of };
    if (of) await this.#index(digestOf(token), of);
    await this.redis.startSession(this.#keyOf(token), JSON.stringify(session), IDLE_MS);
    return token;
  }

  /** Returns the session's user, and extends the session. */
  async userOf(token: string, nowMs: number): Promise<User | undefined> {
    const key = this.#keyOf(token);
    const text = await this.redis.get(key);
    if (text === null) return undefined;
    const { userId, version, startedAt } = JSON.parse(text) as Session;
    const leftMs = startedAt + LONGEST_MS - nowMs;
    const user = leftMs > 0 ? await this.deps.users.read(userId) : undefined;
    if (user?.version !== version) {
      await this.redis.del(key).catch(() => undefined);
      return undefined;
    }
    // If Redis rejects the write, the session stays valid and ends at its previous time.
    await this.redis.pexpire(key, Math.min(IDLE_MS, leftMs)).catch(() => undefined);
    return user;
  }

  /** @returns the provider's session behind it */
  async end(token: string): Promise<ProviderSession | undefined> {
    const text = await this.redis.getdel(this.#keyOf(token));
    return text === null ? undefined : (JSON.parse(text) as Session).of;
  }

  /** Ends the sessions of one session at the provider, or, without a `sid`, of the provider's user.
   *  @returns the number of sessions, and the user of one of them */
  async endOfProvider(issuer: string, ended: Ended): Promise<{ count: number; userId: string | undefined }> {
    const index = this.#indexOf(issuer, ended);
    const digests = await this.redis.smembers(index);
    const texts = await Promise.all(digests.map((digest) => this.redis.getdel(this.keys.session(digest))));
    await this.redis.del(index);
    const sessions = texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as Session]));
    return { count: sessions.length, userId: sessions[0]?.userId };
  }

  async #index(digest: string, { issuer, subject, sid }: ProviderSession): Promise<void> {
    const indexes = [this.#indexOf(issuer, { subject })];
    if (sid !== undefined) indexes.push(this.#indexOf(issuer, { sid, subject }));
    for (const index of indexes) {
      await this.redis.sadd(index, digest);
      await this.redis.pexpire(index, LONGEST_MS);
    }
  }

  #indexOf(issuer: string, { sid, subject }: Ended): string {
    return this.keys.providerSessions(
      digestOf(JSON.stringify(sid === undefined ? [issuer, subject] : [issuer, 'sid', sid])),
    );
  }

  #keyOf(token: string): string {
    return this.keys.session(digestOf(token));
  }
}
