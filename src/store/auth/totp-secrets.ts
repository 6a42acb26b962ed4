/** The secrets of authenticator apps, sealed. */
import type { Sealer } from '../../model/auth/seal.ts';
import type { User } from '../../model/auth/user.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Users } from './users.ts';

const SET_UP_LIFETIME_MS = 10 * 60_000;
const SET_UP = 'totp-set-up';

interface SetUp {
  userId: string;
  version: string;
  secret: string;
  /** Unix milliseconds. */
  startedAt: number;
}

export class TotpSecrets extends Composed<{ sealer: Sealer; users: Users }> {
  seal(secret: string, userId: string): string {
    return this.deps.sealer.seal(secret, locationOf(userId));
  }

  /** undefined if SECRET_KEY does not open it */
  open({ id, secondFactors }: User): string | undefined {
    return this.deps.sealer.tryOpen(secondFactors?.totp?.sealed ?? '', locationOf(id));
  }

  /** Seals a secret that the browser holds until the user has proved to have it. */
  sealSetUp({ id, version }: User, secret: string, nowMs: number): string {
    const setUp: SetUp = { userId: id, version, secret, startedAt: nowMs };
    return this.deps.sealer.seal(JSON.stringify(setUp), SET_UP);
  }

  /** undefined if it is another user's, too old, or from before another change */
  openSetUp(sealed: string, { id, version }: User, nowMs: number): string | undefined {
    const opened = this.deps.sealer.tryOpen(sealed, SET_UP);
    if (opened === undefined) return undefined;
    const setUp = JSON.parse(opened) as SetUp;
    const isValid = setUp.userId === id && setUp.version === version && nowMs - setUp.startedAt < SET_UP_LIFETIME_MS;
    return isValid ? setUp.secret : undefined;
  }

  /** @returns number of secrets that it re-encrypted */
  async reencrypt(): Promise<number> {
    let count = 0;
    for (const { id, secondFactors } of await this.deps.users.all()) {
      const { sealed } = secondFactors?.totp ?? {};
      if (sealed === undefined || this.deps.sealer.isCurrent(sealed)) continue;
      await this.deps.users.change(id, (user) => this.#reencrypted(user));
      count++;
    }
    return count;
  }

  #reencrypted(user: User): User {
    const { id, secondFactors } = user;
    if (!secondFactors?.totp) return user;
    const sealed = this.deps.sealer.reencrypted(secondFactors.totp.sealed, locationOf(id));
    return { ...user, secondFactors: { ...secondFactors, totp: { ...secondFactors.totp, sealed } } };
  }
}

function locationOf(userId: string): string {
  return `totp ${userId}`;
}
