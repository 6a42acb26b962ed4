/** The API's representation of the account of a signed-in user. */
import type { User } from '../../model/auth/user.ts';
import { iso } from '../../model/values/time.ts';
import type { ListedSession } from '../../store/auth/sessions.ts';

export interface AccountState {
  user: User;
  sessions: ListedSession[];
  /** ID of the session that makes the request. */
  current: string;
  /** Names of the providers of identities. */
  namesOf(user: Pick<User, 'identities'>): string[];
  /** Whether the user may sign in with a password. */
  mayUsePassword: boolean;
  isRequired: boolean;
  /** Whether browsers have passkeys at this address. */
  hasPasskeys: boolean;
}

export type AccountView = ReturnType<typeof accountView>;

export function accountView(state: AccountState) {
  const { user, namesOf, sessions, current } = state;
  const { totp, passkeys = [], recoveryCodes = [] } = user.secondFactors ?? {};
  return {
    email: user.email,
    role: user.role,
    environment_roles: user.environmentRoles ?? {},
    has_password: user.password !== undefined && state.mayUsePassword,
    providers: namesOf(user),
    second_factors: {
      required: state.isRequired,
      passkeys_available: state.hasPasskeys,
      totp: totp ? { added_at: iso(totp.addedAt) } : null,
      passkeys: passkeys.map(({ id, name, rpId, addedAt, lastUsedAt }) => ({
        id,
        name,
        host: rpId,
        added_at: iso(addedAt),
        last_used_at: lastUsedAt === undefined ? null : iso(lastUsedAt),
      })),
      recovery_codes_left: recoveryCodes.length,
    },
    sessions: sessions.map(({ id, startedAt, address, userAgent, of }) => ({
      id,
      current: id === current,
      started_at: iso(startedAt),
      address,
      user_agent: userAgent,
      provider: (of && namesOf({ identities: [of] })[0]) ?? null,
    })),
  };
}
