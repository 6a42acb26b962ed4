/** Checks valid settings against each other, and whether they are safe in production. */
import type { z } from 'zod';
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
  const named = (['SECRET_KEY', 'ADMIN_PASSWORD', 'API_KEY', 'SIGNING_KEY', 'METRICS_TOKEN'] as const).filter(
    (name) => env[name],
  );
  for (const [at, name] of named.entries()) {
    const same = named.slice(0, at).find((other) => env[other] === env[name]);
    if (same) problems.push(`${name}: the same as ${same}; each secret must be different`);
  }
  return problems;
}

function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Whether the host name means this machine; pages of other machines cannot have this name.
 *  @param hostname as in `URL` */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
