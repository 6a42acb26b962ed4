/** The registration in an app's response to a sync request (docs/protocol.md#registration). The app signs it with the key
 *  that signed the request. */
import type { Dialect } from '../model/apps/app.ts';
import { isJsonObject, tryParseJson } from '../model/values/json.ts';
import { isSignedWith } from './signing.ts';

export interface InBandRegistration {
  /** Same form as in requests to `/fn/register`, not validated. */
  text: string;
  appName: unknown;
  /** The environment that the app selects; undefined if none. */
  env: string | undefined;
  dialect: Dialect;
}

/** @throws Error if the response is unsigned or not a registration */
export function inBandRegistration(
  text: string,
  given: { signature: string | undefined; dialect: Dialect; signingKey: string; nowMs: number },
): InBandRegistration {
  const { signature, dialect, signingKey, nowMs } = given;
  // The official Go SDK appends an unsigned line feed.
  const bodies = text.endsWith('\n') ? [text, text.slice(0, -1)] : [text];
  if (!bodies.some((body) => isSignedWith(signature, body, signingKey, nowMs))) {
    throw new Error(
      "the response has a registration that is not signed with the environment's signing key; check the app's key, mode and clock",
    );
  }
  const registration = tryParseJson(text);
  if (!isJsonObject(registration) || typeof registration.app_id !== 'string')
    throw new Error('the response is not a registration');
  const { app_id: appName, url, framework, functions, env, deployId, appVersion } = registration;
  return {
    text: JSON.stringify({ appName, url, framework, functions, sdk: sdkOf(registration), deployId, appVersion }),
    appName,
    env: typeof env === 'string' && env !== '' ? env : undefined,
    dialect,
  };
}

/** Same form as in other registrations: `js:v1.0.0`. */
function sdkOf({ sdk_language: language, sdk_version: version }: Record<string, unknown>): string | undefined {
  return typeof language === 'string' && typeof version === 'string'
    ? `${language}:v${version.replace(/^v/, '')}`
    : undefined;
}
