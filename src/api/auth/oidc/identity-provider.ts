/** One OpenID provider: where browsers sign in, what its response says, and which logout tokens are its own. The library checks the responses; it is
 *  loaded with the first sign-in. */
import type { createRemoteJWKSet } from 'jose';
import type { ClientAuth, Configuration, IDToken } from 'openid-client';
import { ServiceError } from '../../../errors.ts';
import { domainOf } from '../../../model/auth/sign-in-rules.ts';
import { emailSchema } from '../../../model/auth/user.ts';
import { isJsonObject, stringOf } from '../../../model/values/json.ts';
import { HOUR_MS } from '../../../model/values/time.ts';
import type { OidcProvider } from '../../../settings/oidc.ts';
import type { Ended } from '../../../store/auth/sessions.ts';
import type { SignInFlow } from '../../../store/auth/sign-in-flows.ts';
import { ProviderAway, type ProviderFetch } from './provider-fetch.ts';

const METADATA_LIFETIME_MS = HOUR_MS;
const CLOCK_TOLERANCE_SECONDS = 30;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const LOGOUT_TOKEN_AGE_SECONDS = 300;
/** Maximum length of a provider's text in a message. */
const SHOWN_MAX = 200;

/** A user, as the provider describes them. */
export interface ProviderUser {
  issuer: string;
  subject: string;
  sid: string | undefined;
  /** Lower case. */
  email: string;
  isVerified: boolean;
  /** The domain of the user's organization. */
  domain: string;
  groups: string[];
  idToken: string;
}

export interface IdentityProviderDeps {
  /** URL that the provider sends browsers back to. */
  redirectUri: string;
  fetch: ProviderFetch['fetch'];
}

export class IdentityProvider {
  readonly settings: OidcProvider;
  readonly #deps: IdentityProviderDeps;
  /** Keys that sign logout tokens; the library fetches those of ID tokens. */
  #keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  #metadata: { configuration: Promise<Configuration>; until: number } | undefined;

  constructor(settings: OidcProvider, deps: IdentityProviderDeps) {
    this.settings = settings;
    this.#deps = deps;
  }

  /** @returns the page of the provider, and what the callback will need
   *  @throws ServiceError sso_unavailable */
  async begin(next: string): Promise<{ url: URL; flow: SignInFlow }> {
    const client = await import('openid-client');
    const configuration = await this.#configuration();
    const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#deps.redirectUri,
      scope: this.settings.scopes,
      response_type: 'code',
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url, flow: { provider: this.settings.id, state, nonce, verifier, next, startedAt: Date.now() } };
  }

  /** Redeems the code of the callback, and checks the ID token: signature, issuer, audience, times, nonce.
   *  @param query query of the callback
   *  @throws ServiceError sso_rejected, sso_unavailable */
  async userOf(query: string, { state, nonce, verifier }: SignInFlow): Promise<ProviderUser> {
    const client = await import('openid-client');
    const configuration = await this.#configuration();
    const { clientId, groupsClaim, roleRules, verifiedClaim, name } = this.settings;
    const callback = new URL(`${this.#deps.redirectUri}?${query}`);
    const tokens = await this.#checked(
      client.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }),
    );
    const claims = tokens.claims() as IDToken;
    if (claims.azp !== undefined && claims.azp !== clientId) {
      throw this.#rejected('unexpected ID Token "azp" (authorized party) claim value');
    }
    const isComplete = claims.email !== undefined && (claims[groupsClaim] !== undefined || !needsGroups(roleRules));
    const { userinfo_endpoint: more } = configuration.serverMetadata();
    const info: Record<string, unknown> =
      isComplete || more === undefined
        ? {}
        : await this.#checked(client.fetchUserInfo(configuration, tokens.access_token, claims.sub));
    // Address and verification come from one document, so that the verification is about this address.
    const about: Record<string, unknown> = claims.email === undefined ? info : claims;
    const email = emailSchema.safeParse(about.email).data;
    if (email === undefined) throw this.#rejected(`${name} gives no email address; add the scope "email"`);
    return {
      issuer: claims.iss,
      subject: claims.sub,
      sid: stringOf(claims.sid),
      email,
      isVerified: [true, 'true', 1, '1'].includes(about[verifiedClaim] as string),
      domain: domainOf(claims, email),
      groups: [claims[groupsClaim] ?? info[groupsClaim]].flat().filter((group) => typeof group === 'string'),
      idToken: tokens.id_token as string,
    };
  }

  /** URL at which the browser also signs out of the provider; undefined if it has no such page, or is away. */
  async signOutUrl(idToken: string | undefined, back: string): Promise<string | undefined> {
    const client = await import('openid-client');
    const configuration = await this.#configuration().catch(() => undefined);
    if (configuration?.serverMetadata().end_session_endpoint === undefined) return undefined;
    const hint = idToken === undefined ? {} : { id_token_hint: idToken };
    return client.buildEndSessionUrl(configuration, { ...hint, post_logout_redirect_uri: back }).href;
  }

  /** @throws ServiceError logout_token_invalid, sso_unavailable */
  async logoutOf(token: string): Promise<Ended & { id: string; issuer: string }> {
    const jose = await import('jose');
    const { issuer, jwks_uri } = (await this.#configuration()).serverMetadata();
    const options = { [jose.customFetch]: this.#deps.fetch as typeof fetch };
    this.#keys ??= jose.createRemoteJWKSet(new URL(jwks_uri as string), options);
    const { payload } = await jose
      .jwtVerify(token, this.#keys, {
        issuer,
        audience: this.settings.clientId,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        maxTokenAge: LOGOUT_TOKEN_AGE_SECONDS,
        requiredClaims: ['iat', 'jti', 'events'],
      })
      .catch((error: Error) => {
        if (error instanceof ProviderAway) throw this.#unavailable(error);
        throw invalidLogoutToken(error.message);
      });
    const { sub: subject, sid, jti, events, nonce } = payload as Record<string, unknown>;
    if (!isJsonObject(events) || !isJsonObject(events[LOGOUT_EVENT]))
      throw invalidLogoutToken('its event is not a logout');
    if (nonce !== undefined) throw invalidLogoutToken('it has a nonce, so it is an ID token');
    if (typeof sid !== 'string' && typeof subject !== 'string') throw invalidLogoutToken('it has neither sid nor sub');
    return { id: `${issuer} ${jti}`, issuer, subject: stringOf(subject), sid: stringOf(sid) };
  }

  /** @throws ServiceError sso_unavailable */
  #configuration(): Promise<Configuration> {
    const now = Date.now();
    if (this.#metadata && this.#metadata.until > now) return this.#metadata.configuration;
    const configuration = this.#discover();
    this.#metadata = { configuration, until: now + METADATA_LIFETIME_MS };
    configuration.catch(() => {
      this.#metadata = undefined;
    });
    return configuration;
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client');
    const { issuer, clientId, clientSecret } = this.settings;
    const isLocal = issuer.startsWith('http:');
    const auth: ClientAuth = (server, ...request) => {
      const isPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
      return (isPost ? client.ClientSecretPost : client.ClientSecretBasic)(clientSecret)(server, ...request);
    };
    const metadata = { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    try {
      const configuration = await client.discovery(new URL(issuer), clientId, metadata, auth, {
        [client.customFetch]: this.#deps.fetch,
        // The signature of the ID token is checked too, although the token comes from the provider itself.
        execute: [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])],
      });
      // For the issuer "common", the library accepts any tenant of Microsoft Entra; the service does not.
      const found = configuration.serverMetadata().issuer;
      if (new URL(found).href !== new URL(issuer).href) throw new Error(`its issuer is ${found}`);
      return configuration;
    } catch (error) {
      throw this.#unavailable(error as Error);
    }
  }

  async #checked<T>(response: Promise<T>): Promise<T> {
    const { AuthorizationResponseError, ResponseBodyError } = await import('openid-client');
    try {
      return await response;
    } catch (error) {
      const { cause, message } = error as Error;
      if (cause instanceof ProviderAway || error instanceof ProviderAway) throw this.#unavailable(error as Error);
      if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
        const { error: code, error_description: text } = error;
        throw this.#rejected(`${this.settings.name} answers "${text ? `${code}: ${text}` : code}"`);
      }
      throw this.#rejected(cause instanceof Error ? cause.message : message);
    }
  }

  #rejected(reason: string): ServiceError {
    return new ServiceError('sso_rejected', { detail: reason.slice(0, SHOWN_MAX) });
  }

  #unavailable({ message, cause }: Error): ServiceError {
    const reason = cause instanceof Error ? cause.message : message;
    const detail = `${this.settings.name} cannot sign you in now (${reason.slice(0, SHOWN_MAX)}); try again in a moment`;
    return new ServiceError('sso_unavailable', { detail, retryAfterSeconds: 10, cause });
  }
}

function needsGroups(rules: OidcProvider['roleRules']): boolean {
  return rules?.some(({ group }) => group !== '*') === true;
}

function invalidLogoutToken(detail: string): ServiceError {
  return new ServiceError('logout_token_invalid', { detail });
}
