/** Checks valid settings against each other, and whether they are safe in production. */
import type { z } from 'zod';
import { MAIN_PROVIDER, type OidcProvider, providerProblems, toProvider } from './oidc.ts';
import { SETTINGS } from './settings.ts';

export type SettingValues = z.infer<z.ZodObject<typeof SETTINGS>>;

const LOOPBACK = /^(?:.*\.)?localhost$|^127(?:\.\d{1,3}){3}$|^\[::1\]$/;
/** Anyone can try keys, so keys must be hard to guess. */
const MIN_EVENT_KEY_LENGTH = 16;

/** @returns problems to report together, one line each */
export function settingProblems(values: SettingValues): string[] {
  const { MODE, PORT, METRICS_PORT, HOT_HOURS } = values;
  if (METRICS_PORT !== undefined && METRICS_PORT !== 0 && METRICS_PORT === PORT) {
    return [`METRICS_PORT: got ${METRICS_PORT}, the same as PORT; use different ports`];
  }
  if (values.REDIS_CLUSTER_URLS && values.REDIS_SENTINEL_URLS) {
    return ['REDIS_SENTINEL_URLS: set, but REDIS_CLUSTER_URLS is set too; use one of them'];
  }
  if (values.SMTP_URL !== undefined && values.ALERT_FROM === undefined) {
    return ['ALERT_FROM: not set, but SMTP_URL is; set the address from which alerts are sent'];
  }
  if (MODE === 'dev') return [];
  if (HOT_HOURS < 1) return [`HOT_HOURS: got ${HOT_HOURS}; expected at least 1 unless MODE=dev`];
  return unsafeInProduction(values);
}

/** Settings that are unsafe in production, one line each. */
function unsafeInProduction(env: SettingValues): string[] {
  const problems: string[] = [];
  if (env.SECRET_KEY === undefined) {
    problems.push(`SECRET_KEY: not set, but required unless MODE=dev (${SETTINGS.SECRET_KEY.description})`);
  }
  for (const [at, key] of env.EVENT_KEYS.entries()) {
    if (key.length >= MIN_EVENT_KEY_LENGTH) continue;
    problems.push(
      `EVENT_KEYS: key ${at + 1} has ${key.length} characters; each needs at least ${MIN_EVENT_KEY_LENGTH}. Generate keys with: openssl rand -hex 32`,
    );
  }
  if ((env.ADMIN_EMAIL === undefined) !== (env.ADMIN_PASSWORD === undefined)) {
    const [set, missing] = env.ADMIN_EMAIL ? ['ADMIN_EMAIL', 'ADMIN_PASSWORD'] : ['ADMIN_PASSWORD', 'ADMIN_EMAIL'];
    problems.push(`${missing}: not set, but ${set} is; set both or neither`);
  }
  if (env.PUBLIC_URL !== undefined && !isSafeAddress(new URL(env.PUBLIC_URL))) {
    problems.push(
      `PUBLIC_URL: got ${JSON.stringify(env.PUBLIC_URL)}; expected an https URL, or an address of this machine`,
    );
  }
  const url = env.PUBLIC_URL === undefined ? undefined : new URL(env.PUBLIC_URL);
  if (url && (url.search || url.hash || url.username || url.password)) {
    problems.push(
      'PUBLIC_URL: has a query, a fragment or credentials; expected scheme and host, such as https://events.example.com',
    );
  }
  problems.push(...unsafeSignOn(env));
  const named = (['SECRET_KEY', 'ADMIN_PASSWORD', 'API_KEY', 'SIGNING_KEY', 'METRICS_TOKEN'] as const).filter(
    (name) => env[name],
  );
  for (const [at, name] of named.entries()) {
    const same = named.slice(0, at).find((other) => env[other] === env[name]);
    if (same) problems.push(`${name}: the same as ${same}; each secret must be different`);
  }
  return problems;
}

function unsafeSignOn(env: SettingValues): string[] {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PASSWORD_SIGN_IN } = env;
  const required = { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  const missing = Object.entries(required).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length === 1 || missing.length === 2) {
    return [`${missing.join(', ')}: not set; set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET together`];
  }
  const providers = providersOf(env);
  if (providers.length > 0 && env.PUBLIC_URL === undefined) {
    return ['PUBLIC_URL: not set, but the provider of single sign-on sends browsers back to it'];
  }
  if (providers.length === 0 && !PASSWORD_SIGN_IN) {
    return ['PASSWORD_SIGN_IN: false, but there is no provider (OIDC_ISSUER); nobody could sign in'];
  }
  return providerProblems(providers);
}

/** The provider of the settings OIDC_…, and those of OIDC_PROVIDERS. */
export function providersOf(env: SettingValues): OidcProvider[] {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return env.OIDC_PROVIDERS;
  const main = toProvider({
    id: MAIN_PROVIDER,
    name: env.OIDC_NAME,
    issuer,
    clientId,
    clientSecret,
    scopes: env.OIDC_SCOPES,
    roleRules: env.OIDC_ROLE_RULES,
    groupsClaim: env.OIDC_GROUPS_CLAIM,
    verifiedClaim: env.OIDC_VERIFIED_CLAIM,
    allowedDomains: env.OIDC_ALLOWED_DOMAINS,
    signUp: env.OIDC_SIGN_UP,
  });
  return [main, ...env.OIDC_PROVIDERS];
}

function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Whether the host name means this machine; pages of other machines cannot have this name.
 *  @param hostname as in `URL` */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
