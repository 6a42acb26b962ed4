/** Sessions of signed-in users, by the digest of their token. A session ends after 12 idle hours, or after a week at most. It also
 *  ends when the user changes the password (which changes the user's `version`) or is deleted, and when the provider at which the user
 *  signed in says so. */
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import type { Identity, User } from '../../model/auth/user.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import type { Users } from './users.ts';

const IDLE_MS = 12 * HOUR_MS;
const LONGEST_MS = 7 * 24 * HOUR_MS;
const LISTED_MAX = 100;

/** The session at the provider at which the user signed in. */
export interface ProviderSession extends Identity {
  /** ID of the provider. */
  provider: string;
  /** The provider's ID of its session; undefined if it gives none. */
  sid?: string | undefined;
  /** The ID token, sealed; empty if it is too long. */
  idToken: string;
}

/** The client that started a session. */
export interface SessionOrigin {
  address: string;
  userAgent: string;
  /** undefined: with a password. */
  of?: ProviderSession | undefined;
}

export interface StartedSession extends SessionOrigin {
  userId: string;
  version: string;
  /** Unix milliseconds. */
  startedAt: number;
}

export interface ListedSession extends StartedSession {
  id: string;
}

/** The sessions that a provider has ended. */
export interface Ended {
  sid?: string | undefined;
  subject?: string | undefined;
}

export class Sessions extends Repository<ScriptedRedis, { users: Users }> {
  /** @returns the token, which only the browser stores */
  async start({ id, version }: User, origin: SessionOrigin, nowMs: number): Promise<string> {
    const token = newSecret();
    const session: StartedSession = { userId: id, version, startedAt: nowMs, ...origin };
    const keys = [this.#keyOf(token), ...this.#indexesOf(session)];
    const text = JSON.stringify(session);
    await this.redis.startSession(keys.length, ...keys, text, IDLE_MS, digestOf(token), nowMs, LONGEST_MS);
    return token;
  }

  /** Returns the session's user, and extends the session. */
  async userOf(token: string, nowMs: number): Promise<User | undefined> {
    const key = this.#keyOf(token);
    const text = await this.redis.get(key);
    if (text === null) return undefined;
    const { userId, version, startedAt } = JSON.parse(text) as StartedSession;
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

  /** The user's sessions, newest first. */
  async ofUser({ id, version }: User): Promise<ListedSession[]> {
    const digests = await this.redis.zrevrange(this.#userIndex(id), 0, LISTED_MAX - 1);
    const texts = await Promise.all(digests.map((digest) => this.redis.get(this.keys.session(digest))));
    return texts
      .map((text, at) => text !== null && { ...(JSON.parse(text) as StartedSession), id: digests[at] as string })
      .filter((session) => session !== false && session.version === version) as ListedSession[];
  }

  idOf(token: string): string {
    return digestOf(token);
  }

  end(token: string): Promise<StartedSession | undefined> {
    return this.endById(digestOf(token));
  }

  async endById(id: string): Promise<StartedSession | undefined> {
    const text = await this.redis.getdel(this.keys.session(id));
    if (text === null) return undefined;
    const session = JSON.parse(text) as StartedSession;
    // An entry that stays in an index is trimmed later.
    await Promise.all(this.#indexesOf(session).map((index) => this.redis.zrem(index, id))).catch(() => undefined);
    return session;
  }

  /** Ends the sessions of one session at the provider, or, without a `sid`, of the provider's user.
   *  @returns the number of sessions, and the user of one of them */
  async endOfProvider(issuer: string, ended: Ended): Promise<{ count: number; userId: string | undefined }> {
    const digests = await this.redis.zrevrange(this.#providerIndex(issuer, ended), 0, -1);
    const all = await Promise.all(digests.map((digest) => this.endById(digest)));
    const sessions = all.filter((session) => session !== undefined);
    return { count: sessions.length, userId: sessions[0]?.userId };
  }

  #indexesOf({ userId, of }: StartedSession): string[] {
    const indexes = [this.#userIndex(userId)];
    if (of) indexes.push(this.#providerIndex(of.issuer, { subject: of.subject }));
    if (of?.sid !== undefined) indexes.push(this.#providerIndex(of.issuer, { sid: of.sid }));
    return indexes;
  }

  #userIndex(id: string): string {
    return this.keys.sessionIndex(digestOf(JSON.stringify(['user', id])));
  }

  #providerIndex(issuer: string, { sid, subject }: Ended): string {
    return this.keys.sessionIndex(
      digestOf(JSON.stringify(sid === undefined ? ['subject', issuer, subject] : ['sid', issuer, sid])),
    );
  }

  #keyOf(token: string): string {
    return this.keys.session(digestOf(token));
  }
}
