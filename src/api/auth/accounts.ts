/** Accounts: sign in, set a password, create the first admin, invite a user. Independent of HTTP. */
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { hashPassword, isPassword } from '../../model/auth/password.ts';
import { newSecret } from '../../model/auth/secret.ts';
import type { User } from '../../model/auth/user.ts';
import { newId } from '../../model/ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { OneTimeToken } from '../../store/auth/one-time-tokens.ts';
import type { Throttled, ThrottleLimit } from '../../store/auth/sign-in-throttle.ts';
import type { Store } from '../../store/store.ts';

/** Maximum number of concurrent password checks in this process; each takes 200 ms and 32 MiB. */
const MAX_PASSWORD_CHECKS = 64;

export class SignInThrottled extends ServiceError {
  readonly limit: ThrottleLimit;

  constructor({ limit, waitMs }: Throttled) {
    const minutes = Math.ceil(waitMs / 60_000);
    const detail = `try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}`;
    super('too_many_attempts', { detail, retryAfterSeconds: Math.ceil(waitMs / 1_000) });
    this.limit = limit;
  }
}

export interface AccountsDeps extends Pick<Store, 'users' | 'oneTimeTokens' | 'signInThrottle'> {
  config: Pick<Config, 'passwordSignIn'>;
}

export class Accounts extends Composed<AccountsDeps> {
  #passwordChecks = 0;

  /** Whether the user may sign in with a password. Without password sign-in, only admins without single sign-on may: they get in while the
   *  provider is away. */
  mayUsePassword({ role, identities }: User): boolean {
    return this.deps.config.passwordSignIn || (role === 'admin' && identities === undefined);
  }

  /** An unknown user gets the same error, after the same time, as a wrong password.
   *  @param address the client's address
   *  @throws ServiceError sign_in_failed, too_many_attempts, overloaded */
  async verify(email: string, password: string, address: string): Promise<User> {
    const attempt = { account: email, address };
    const { users, signInThrottle } = this.deps;
    const throttled = await signInThrottle.begin(attempt);
    if (throttled) throw new SignInThrottled(throttled);
    const user = await users.readByEmail(email);
    const isRight = await this.#isPassword(password, user);
    if (!isRight || !user || !this.mayUsePassword(user)) throw new ServiceError('sign_in_failed');
    await signInThrottle.succeed(attempt);
    return user;
  }

  /** Ends all sessions of the user.
   *  @throws ServiceError sign_in_failed, too_many_attempts */
  async changePassword(userId: string, current: string, password: string, address: string): Promise<User> {
    return this.#withPassword(await this.confirm(userId, current, address), password);
  }

  /** Checks the current password of a signed-in user who is about to change something.
   *  @throws ServiceError sign_in_failed, too_many_attempts */
  async confirm(userId: string, current: string, address: string): Promise<User> {
    const user = await this.deps.users.read(userId);
    return this.verify(user?.email ?? '', current, address).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== 'sign_in_failed') throw error;
      throw new ServiceError('sign_in_failed', { message: 'The current password is wrong.' });
    });
  }

  /** Sets the password of the token's user, and ends all of the user's sessions.
   *  @throws ServiceError link_invalid, password_sign_in_off */
  async setPassword(token: string, password: string): Promise<User> {
    const oneTimeToken = await this.deps.oneTimeTokens.use(token);
    const userId = oneTimeToken?.purpose === 'set-password' ? oneTimeToken.userId : undefined;
    const user = userId === undefined ? undefined : await this.deps.users.read(userId);
    if (!user || !isFor(oneTimeToken, user)) throw invalidLink();
    if (!this.mayUsePassword(user)) throw new ServiceError('password_sign_in_off', { detail: 'use single sign-on' });
    return this.#withPassword(user, password);
  }

  /** @throws ServiceError link_invalid, also if there is already a user */
  async setUp(token: string, email: string, password: string): Promise<User> {
    const oneTimeToken = await this.deps.oneTimeTokens.use(token);
    const user = oneTimeToken?.purpose === 'set-up' ? await this.createFirst(email, password) : undefined;
    if (!user) throw invalidLink();
    return user;
  }

  /** Creates the first admin; undefined if there is already a user. */
  async createFirst(email: string, password: string): Promise<User | undefined> {
    const user = await newAdmin(email, password);
    return (await this.deps.users.createFirst(user)) ? user : undefined;
  }

  /** Creates another admin; undefined if the email address is taken. */
  async createAdmin(email: string, password: string): Promise<User | undefined> {
    const user = await newAdmin(email, password);
    return (await this.deps.users.create(user)) ? user : undefined;
  }

  /** Creates a user without a password, and the token to set one.
   *  @throws ServiceError email_taken */
  async invite(email: string, roles: Pick<User, 'role' | 'environmentRoles'>): Promise<{ user: User; token: string }> {
    const user = newUser(email, roles);
    if (!(await this.deps.users.create(user))) throw new ServiceError('email_taken', { detail: email });
    return { user, token: await this.passwordToken(user) };
  }

  passwordToken({ id, version }: User): Promise<string> {
    return this.deps.oneTimeTokens.create({ purpose: 'set-password', userId: id, version });
  }

  /** Whether the token is valid; does not use it up. */
  async isValidLink(token: string, purpose: OneTimeToken['purpose']): Promise<boolean> {
    const oneTimeToken = await this.deps.oneTimeTokens.read(token);
    if (oneTimeToken?.purpose !== purpose) return false;
    if (oneTimeToken.purpose === 'set-up') return !(await this.deps.users.any());
    const user = await this.deps.users.read(oneTimeToken.userId);
    return user !== undefined && isFor(oneTimeToken, user);
  }

  async #isPassword(password: string, user: User | undefined): Promise<boolean> {
    if (this.#passwordChecks >= MAX_PASSWORD_CHECKS) {
      throw new ServiceError('overloaded', { detail: 'too many people are signing in', retryAfterSeconds: 5 });
    }
    this.#passwordChecks++;
    try {
      return await isPassword(password, user?.password);
    } finally {
      this.#passwordChecks--;
    }
  }

  async #withPassword({ id }: User, password: string): Promise<User> {
    const change = { password: await hashPassword(password), version: newSecret(), updatedAt: Date.now() };
    const user = await this.deps.users.change(id, (current) => ({ ...current, ...change }));
    if (typeof user === 'string') throw invalidLink();
    return user;
  }
}

export function newUser(email: string, { role, environmentRoles }: Pick<User, 'role' | 'environmentRoles'>): User {
  const now = Date.now();
  const roles = { role, ...(environmentRoles && { environmentRoles }) };
  return { id: newId(), email, ...roles, version: newSecret(), createdAt: now, updatedAt: now };
}

async function newAdmin(email: string, password: string): Promise<User> {
  return { ...newUser(email, { role: 'admin' }), password: await hashPassword(password) };
}

/** A token becomes invalid when the password changes. */
function isFor(token: OneTimeToken | undefined, { id, version }: User): boolean {
  return token?.purpose === 'set-password' && token.userId === id && token.version === version;
}

function invalidLink(): ServiceError {
  return new ServiceError('link_invalid', { detail: 'links work once, for 24 hours; ask an admin for a new one' });
}
