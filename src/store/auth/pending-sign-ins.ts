/** Sign-ins that need a second factor after the password, by the digest of a token that only the browser has; and the challenges that passkeys
 *  sign. A pending sign-in gives no access. */
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import type { User } from '../../model/auth/user.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import type { Users } from './users.ts';

export const PENDING_LIFETIME_MS = 10 * 60_000;

export interface PendingSignIn {
  userId: string;
  /** Version of the user: another password or second factor ends earlier sign-ins. */
  version: string;
  /** The requested page. */
  next: string;
}

export class PendingSignIns extends Repository<ScriptedRedis, { users: Users }> {
  /** @returns the token */
  async begin({ id, version }: User, next: string): Promise<string> {
    const token = newSecret();
    const pending: PendingSignIn = { userId: id, version, next };
    const key = this.keys.pendingSignIn(digestOf(token));
    await this.redis.setForSignIn(key, JSON.stringify(pending), PENDING_LIFETIME_MS);
    return token;
  }

  async read(token: string): Promise<{ user: User; next: string } | undefined> {
    const text = await this.redis.get(this.keys.pendingSignIn(digestOf(token)));
    if (text === null) return undefined;
    const { userId, version, next } = JSON.parse(text) as PendingSignIn;
    const user = await this.deps.users.read(userId);
    return user?.version === version ? { user, next } : undefined;
  }

  /** @returns false if it has ended before */
  async end(token: string): Promise<boolean> {
    return (await this.redis.del(this.keys.pendingSignIn(digestOf(token)))) === 1;
  }

  /** @param token of a session or a pending sign-in; it has one challenge at a time */
  async challenge(token: string): Promise<string> {
    const challenge = newSecret();
    await this.redis.setForSignIn(this.keys.passkeyChallenge(digestOf(token)), challenge, PENDING_LIFETIME_MS);
    return challenge;
  }

  /** Each challenge counts once. */
  async takeChallenge(token: string): Promise<string | undefined> {
    return (await this.redis.getdel(this.keys.passkeyChallenge(digestOf(token)))) ?? undefined;
  }
}
