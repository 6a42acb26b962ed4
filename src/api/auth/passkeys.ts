/** Passkeys (WebAuthn) as a second factor. The library checks what authenticators sign; it is loaded with the first passkey. */
import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { ServiceError } from '../../errors.ts';
import type { Passkey } from '../../model/auth/second-factors.ts';
import type { User } from '../../model/auth/user.ts';
import { Composed } from '../../model/values/composed.ts';
import { tryParseJson } from '../../model/values/json.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../http/router.ts';

const NAME = 'Tidegate';
/** ES256, EdDSA and RS256 (COSE), which authenticators have; Node's support for newer ones is experimental. */
const ALGORITHMS = [-7, -8, -257];
const CEREMONY_TIMEOUT_MS = 5 * 60_000;

/** The site that passkeys are made for: they work at no other address. */
export interface RelyingParty {
  id: string;
  origin: string;
}

/** undefined: browsers have passkeys at host names only, over https or on this machine. */
export function relyingPartyOf(ctx: Context, publicUrl: string | undefined): RelyingParty | undefined {
  const { hostname: id, origin, protocol } = new URL(publicUrl ?? `${ctx.protocol}://${ctx.host}`);
  const isAddress = isIP(id) !== 0 || id.startsWith('[');
  return !isAddress && (protocol === 'https:' || id === 'localhost') ? { id, origin } : undefined;
}

/** @throws ServiceError passkey_unavailable */
export function requireParty(ctx: Context, publicUrl: string | undefined): RelyingParty {
  const party = relyingPartyOf(ctx, publicUrl);
  if (party) return party;
  throw new ServiceError('passkey_unavailable', { detail: 'open the service by a host name, over https' });
}

/** `token` is that of the session or pending sign-in, which has the challenge. `credential` and `assertion` are the text of the
 *  browser's `credential.toJSON()`. */
export class Passkeys extends Composed<Pick<Store, 'pendingSignIns'>> {
  async creationOptions(user: User, at: RelyingParty, token: string): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    return generateRegistrationOptions({
      rpName: NAME,
      rpID: at.id,
      userName: user.email,
      userID: Buffer.from(user.id) as Uint8Array<ArrayBuffer>,
      challenge: await this.#newChallenge(token),
      timeout: CEREMONY_TIMEOUT_MS,
      supportedAlgorithmIDs: ALGORITHMS,
      excludeCredentials: passkeysAt(user, at).map(({ id }) => ({ id })),
      authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
    });
  }

  /** @throws ServiceError second_factor_invalid */
  async created(credential: string, name: string, at: RelyingParty, token: string): Promise<Passkey> {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const expected = await this.#expected(token, at);
    const { registrationInfo } = await checked(
      verifyRegistrationResponse({
        response: parsed<RegistrationResponseJSON>(credential),
        supportedAlgorithmIDs: ALGORITHMS,
        ...expected,
      }),
    );
    if (!registrationInfo) throw invalid('the browser did not prove that it has the passkey');
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    const key = Buffer.from(publicKey).toString('base64url');
    return { id, publicKey: key, counter, transports, rpId: at.id, name, addedAt: Date.now() };
  }

  /** undefined if the user has none at this address */
  async requestOptions(
    user: User,
    at: RelyingParty,
    token: string,
  ): Promise<PublicKeyCredentialRequestOptionsJSON | undefined> {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
    const passkeys = passkeysAt(user, at);
    if (passkeys.length === 0) return undefined;
    return generateAuthenticationOptions({
      rpID: at.id,
      allowCredentials: passkeys.map(({ id, transports }) => ({ id, transports })),
      challenge: await this.#newChallenge(token),
      timeout: CEREMONY_TIMEOUT_MS,
      userVerification: 'preferred',
    });
  }

  /** @returns the passkey as it is after its use
   *  @throws ServiceError second_factor_invalid */
  async used(assertion: string, user: User, at: RelyingParty, token: string): Promise<Passkey> {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const expected = await this.#expected(token, at);
    const response = parsed<AuthenticationResponseJSON>(assertion);
    const passkey = passkeysAt(user, at).find(({ id }) => id === response.id);
    if (!passkey) throw invalid('it is not one of yours');
    const { id, counter, transports } = passkey;
    const publicKey = Buffer.from(passkey.publicKey, 'base64url') as Uint8Array<ArrayBuffer>;
    const credential = { id, publicKey, counter, transports };
    const { verified, authenticationInfo } = await checked(
      verifyAuthenticationResponse({ response, credential, ...expected }),
    );
    if (!verified) throw invalid('its signature is wrong');
    return { ...passkey, counter: authenticationInfo.newCounter, lastUsedAt: Date.now() };
  }

  /** The challenge as bytes, because the library would encode a text again. */
  async #newChallenge(token: string): Promise<Uint8Array<ArrayBuffer>> {
    const challenge = await this.deps.pendingSignIns.challenge(token);
    return Buffer.from(challenge, 'base64url') as Uint8Array<ArrayBuffer>;
  }

  /** The passkey is the second factor, so to have it is enough: a touch, without a PIN or fingerprint. */
  async #expected(token: string, at: RelyingParty) {
    const expectedChallenge = await this.deps.pendingSignIns.takeChallenge(token);
    if (expectedChallenge === undefined) throw invalid('its challenge has ended; try again');
    return { expectedChallenge, expectedOrigin: at.origin, expectedRPID: at.id, requireUserVerification: false };
  }
}

function passkeysAt({ secondFactors }: User, { id }: RelyingParty): Passkey[] {
  return secondFactors?.passkeys.filter(({ rpId }) => rpId === id) ?? [];
}

function parsed<Credential extends object>(text: string): Credential {
  const credential = tryParseJson(text);
  if (typeof credential === 'object' && credential !== null) return credential as Credential;
  throw invalid('the credential is not what a browser sends');
}

/** Errors of the library are about the response. */
async function checked<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    throw invalid((error as Error).message.slice(0, 200));
  }
}

function invalid(detail: string): ServiceError {
  return new ServiceError('second_factor_invalid', { detail });
}
