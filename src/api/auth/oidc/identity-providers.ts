/** The OpenID providers of the settings. */
import type { Config } from '../../../config.ts';
import { orNotFound } from '../../../errors.ts';
import type { User } from '../../../model/auth/user.ts';
import { Composed } from '../../../model/values/composed.ts';
import { MAIN_PROVIDER } from '../../../settings/oidc.ts';
import type { ProviderSession } from '../../../store/auth/sessions.ts';
import type { Store } from '../../../store/store.ts';
import type { Offered } from '../pages.ts';
import { IdentityProvider } from './identity-provider.ts';
import { ProviderFetch } from './provider-fetch.ts';

export interface IdentityProvidersDeps extends Pick<Store, 'signInFlows' | 'users'> {
  config: Pick<Config, 'oidc' | 'passwordSignIn' | 'publicUrl'>;
}

const ID_TOKEN = 'ID token';
/** Maximum length of an ID token that is kept: a longer one makes sessions slow to read, and the sign-out URL too long. */
const ID_TOKEN_MAX = 4_096;

export class IdentityProviders extends Composed<IdentityProvidersDeps> {
  readonly #fetch = new ProviderFetch();
  /** Each provider has its own callback, so that the response of one provider is never taken for that of another. */
  readonly #providers = this.deps.config.oidc.map((settings) => {
    const path = settings.id === MAIN_PROVIDER ? '/auth/oidc/callback' : `/auth/oidc/callback/${settings.id}`;
    const redirectUri = `${this.deps.config.publicUrl}${path}`;
    return new IdentityProvider(settings, { redirectUri, fetch: this.#fetch.fetch });
  });

  /** The ways to sign in that the sign-in page offers. */
  async offered(): Promise<Offered> {
    const { config, users } = this.deps;
    const providers = config.oidc.map(({ id, name }) => ({ id, name }));
    // During an outage the form says so when it is sent.
    const hasUsers = await users.any().catch(() => true);
    return { providers, passwords: config.passwordSignIn, hasUsers };
  }

  /** @throws ServiceError not_found */
  find(id = MAIN_PROVIDER): IdentityProvider {
    const provider = this.#providers.find(({ settings }) => settings.id === id);
    return orNotFound(provider, 'identity provider', id);
  }

  /** Names of the providers at which a user signs in. */
  namesOf({ identities = [] }: Pick<User, 'identities'>): string[] {
    const names = identities.map(
      ({ issuer }) => this.deps.config.oidc.find((provider) => provider.issuer === issuer)?.name ?? issuer,
    );
    return [...new Set(names)];
  }

  /** @returns '' for a token that is too long to keep */
  sealIdToken(token: string): string {
    return token.length > ID_TOKEN_MAX ? '' : this.deps.signInFlows.sealText(token, ID_TOKEN);
  }

  /** URL at which a browser also signs out of the provider; undefined if it has no such page, or is away. */
  async signOutOf(session: ProviderSession): Promise<{ name: string; url: string } | undefined> {
    const provider = this.#providers.find(({ settings }) => settings.id === session.provider);
    const idToken = this.deps.signInFlows.openText(session.idToken, ID_TOKEN);
    const url = await provider?.signOutUrl(idToken, `${this.deps.config.publicUrl}/sign-in`);
    return provider && url !== undefined ? { name: provider.settings.name, url } : undefined;
  }

  async close(): Promise<void> {
    await this.#fetch.close();
  }
}
