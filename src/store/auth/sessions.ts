/** Sessions of signed-in users, by the digest of their token. A session ends after 12 idle hours, or after a week at most. It also
 *  ends when the user changes the password (which changes the user's `version`) or is deleted. */
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import type { User } from '../../model/auth/user.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { Repository } from '../redis/repository.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import type { Users } from './users.ts';

const IDLE_MS = 12 * HOUR_MS;
const LONGEST_MS = 7 * 24 * HOUR_MS;

interface Session {
  userId: string;
  version: string;
  /** Unix milliseconds. */
  startedAt: number;
}

export class Sessions extends Repository<ScriptedRedis, { users: Users }> {
  /** @returns the token, which only the browser stores */
  async start({ id, version }: User, nowMs: number): Promise<string> {
    const token = newSecret();
    const session: Session = { userId: id, version, startedAt: nowMs };
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

  async end(token: string): Promise<void> {
    await this.redis.del(this.#keyOf(token));
  }

  #keyOf(token: string): string {
    return this.keys.session(digestOf(token));
  }
}
