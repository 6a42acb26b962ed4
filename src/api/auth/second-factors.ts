/** Second factors of users: checks them at sign-in, and changes them. Each change gives the user another version,
 *  which ends all sessions and all sign-ins that began before. Independent of HTTP. */
import { ServiceError } from '../../errors.ts';
import {
  type SecondFactors as Factors,
  kindsOf,
  newRecoveryCodes,
  PASSKEYS_MAX,
  type Passkey,
  recoveryDigestOf,
} from '../../model/auth/second-factors.ts';
import { newSecret } from '../../model/auth/secret.ts';
import { newTotpSecret, totpStepOf, totpUri } from '../../model/auth/totp.ts';
import type { User } from '../../model/auth/user.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';
import { SignInThrottled } from './accounts.ts';

export interface SecondFactorsDeps extends Pick<Store, 'users' | 'totpSecrets' | 'signInThrottle'> {
  config: { requireSecondFactor: boolean };
}

/** A user whose second factors have changed; `recoveryCodes` are new ones, in plain text. */
export interface Changed {
  user: User;
  recoveryCodes: string[];
}

/** How an authenticator app gets its secret. */
export interface TotpSetUp {
  /** Sealed; comes back with the first code. */
  set_up: string;
  secret: string;
  uri: string;
  /** The QR code as an image. */
  qr: string;
}

const NONE: Factors = { passkeys: [], recoveryCodes: [] };

export class SecondFactors extends Composed<SecondFactorsDeps> {
  has({ secondFactors }: User): boolean {
    return kindsOf(secondFactors).length > 0;
  }

  get isRequired(): boolean {
    return this.deps.config.requireSecondFactor;
  }

  /** Counts the attempt before it is checked, for the user and the address.
   *  @throws ServiceError too_many_attempts, and what `check` throws */
  async throttled<Result>(user: User, address: string, check: () => Promise<Result>): Promise<Result> {
    const attempt = { account: `second factor of ${user.id}`, address, isSecondFactor: true };
    const throttled = await this.deps.signInThrottle.begin(attempt);
    if (throttled) throw new SignInThrottled(throttled);
    const result = await check();
    await this.deps.signInThrottle.succeed(attempt);
    return result;
  }

  /** A code of the authenticator app, or a recovery code; either counts once.
   *  @returns what it was, in words for the audit log
   *  @throws ServiceError second_factor_invalid */
  async useCode(user: User, code: string): Promise<string> {
    const typed = code.replace(/\s/g, '');
    if (/^\d{6}$/.test(typed)) {
      await this.#useTotp(user, typed);
      return 'a code of the authenticator app';
    }
    const digest = recoveryDigestOf(code);
    const { secondFactors } = await this.#alter(user, (factors) => {
      if (!factors.recoveryCodes.includes(digest)) throw wrongCode();
      return { ...factors, recoveryCodes: factors.recoveryCodes.filter((stored) => stored !== digest) };
    });
    return `a recovery code; ${secondFactors?.recoveryCodes.length ?? 0} are left`;
  }

  /** @param passkey as it is after its use
   *  @throws ServiceError second_factor_invalid if it was used or removed in the meantime */
  async usePasskey(user: User, passkey: Passkey): Promise<string> {
    const before = user.secondFactors?.passkeys.find(({ id }) => id === passkey.id);
    await this.#alter(user, (factors) => {
      const present = factors.passkeys.find(({ id }) => id === passkey.id);
      if (!present || present.counter !== before?.counter) {
        throw new ServiceError('second_factor_invalid', { detail: 'it was used or removed meanwhile' });
      }
      return { ...factors, passkeys: factors.passkeys.map((other) => (other === present ? passkey : other)) };
    });
    return `the passkey ${passkey.name}`;
  }

  /** @param begun after a wrong code: the app has its secret already */
  async beginTotp(user: User, begun = ''): Promise<TotpSetUp> {
    const { renderSVG } = await import('uqr');
    const { totpSecrets } = this.deps;
    const kept = totpSecrets.openSetUp(begun, user, Date.now());
    const secret = kept ?? newTotpSecret();
    const set_up = kept === undefined ? totpSecrets.sealSetUp(user, secret, Date.now()) : begun;
    const uri = totpUri(secret, user.email);
    const qr = `data:image/svg+xml;base64,${Buffer.from(renderSVG(uri)).toString('base64')}`;
    return { set_up, secret, uri, qr };
  }

  /** Adds the authenticator app, or replaces it.
   *  @throws ServiceError second_factor_invalid, sign_in_interrupted */
  async addTotp(user: User, setUp: string, code: string): Promise<Changed> {
    const secret = this.deps.totpSecrets.openSetUp(setUp, user, Date.now());
    if (secret === undefined) throw interrupted();
    const lastStep = totpStepOf(code.replace(/\s/g, ''), secret, Date.now());
    if (lastStep === undefined) throw wrongCode();
    const totp = { sealed: this.deps.totpSecrets.seal(secret, user.id), addedAt: Date.now(), lastStep };
    return this.#change(user, (factors) => ({ ...factors, totp }));
  }

  /** @throws ServiceError quota_exceeded */
  addPasskey(user: User, passkey: Passkey): Promise<Changed> {
    return this.#change(user, (factors) => {
      if (factors.passkeys.length >= PASSKEYS_MAX) {
        throw new ServiceError('quota_exceeded', { detail: `a user has ${PASSKEYS_MAX} passkeys; remove one first` });
      }
      return { ...factors, passkeys: [...factors.passkeys, passkey] };
    });
  }

  /** @throws ServiceError not_found, second_factor_last */
  removeTotp(user: User): Promise<Changed> {
    return this.#change(user, (factors) => {
      if (!factors.totp) throw new ServiceError('not_found', { detail: 'there is no authenticator app' });
      return { ...factors, totp: undefined };
    });
  }

  /** @throws ServiceError not_found, second_factor_last */
  removePasskey(user: User, id: string): Promise<Changed> {
    return this.#change(user, (factors) => {
      const passkeys = factors.passkeys.filter((passkey) => passkey.id !== id);
      if (passkeys.length === factors.passkeys.length) {
        throw new ServiceError('not_found', { detail: 'there is no such passkey' });
      }
      return { ...factors, passkeys };
    });
  }

  /** @throws ServiceError not_found */
  renewRecoveryCodes(user: User): Promise<Changed> {
    return this.#change(user, (factors) => ({ ...factors, recoveryCodes: [] }));
  }

  async #useTotp(user: User, code: string): Promise<void> {
    const secret = this.deps.totpSecrets.open(user);
    if (secret === undefined) throw wrongCode();
    await this.#alter(user, (factors) => {
      const lastStep = factors.totp && totpStepOf(code, secret, Date.now(), factors.totp.lastStep);
      if (!factors.totp || lastStep === undefined) throw wrongCode();
      return { ...factors, totp: { ...factors.totp, lastStep } };
    });
  }

  /** Recovery codes exist as long as a second factor does. */
  async #change(user: User, alter: (factors: Factors) => Factors): Promise<Changed> {
    const codes = newRecoveryCodes();
    let isNew = false;
    const changed = await this.#alter(
      user,
      (before) => {
        const factors = alter(before);
        if (kindsOf(factors).length > 0) {
          isNew = factors.recoveryCodes.length === 0;
          return isNew ? { ...factors, recoveryCodes: codes.map(recoveryDigestOf) } : factors;
        }
        if (kindsOf(before).length === 0) throw new ServiceError('not_found', { detail: 'there is no second factor' });
        if (this.isRequired) throw new ServiceError('second_factor_last', { detail: 'add another one first' });
        isNew = false;
        return undefined;
      },
      newSecret(),
    );
    return { user: changed, recoveryCodes: isNew ? codes : [] };
  }

  /** @param user as it was when the sign-in or change began: another version has other second factors */
  async #alter(user: User, alter: (factors: Factors) => Factors | undefined, version = user.version): Promise<User> {
    const changed = await this.deps.users.change(user.id, ({ secondFactors = NONE, ...present }) => {
      if (present.version !== user.version) throw interrupted();
      const factors = alter(secondFactors);
      return { ...present, ...(factors && { secondFactors: factors }), version, updatedAt: Date.now() };
    });
    if (typeof changed === 'string') throw interrupted();
    return changed;
  }
}

export function interrupted(): ServiceError {
  return new ServiceError('sign_in_interrupted', { detail: 'begin again; it takes at most 10 minutes' });
}

function wrongCode(): ServiceError {
  return new ServiceError('second_factor_invalid', { detail: 'take the next code of the app, or a recovery code' });
}
