/** Settings of a client, from its options or from SERVICE_* variables. Only this file reads variables, and only when a setting is needed, so that
 *  a client can be created before the variables are loaded. */

import type { Checkpoint } from './checkpoint.ts';
import { currentEnv, type Env } from './environment.ts';
import { ConfigError } from './errors.ts';
import type { Logger } from './logger.ts';
import type { AnyMiddleware } from './middleware/types.ts';
import { requestBy, type SendRequest } from './request.ts';
import { isSigningKey } from './signature.ts';
import type { Versioning } from './versioning.ts';

const DEV_BASE_URL = 'http://127.0.0.1:8288';
const DEV_EVENT_KEY = 'dev';
const DEFAULT_MAX_BYTES = 512 * 1_024;
/** A hint for users of a service in dev mode on their own machine. */
export const DEV_HINT =
  'For a service on your own machine set SERVICE_DEV=1 instead, or SERVICE_DEV=http://127.0.0.1:<port> when it does not listen on port 8288';

export interface ClientOptions {
  /** ID of the app. Part of the IDs of its functions: a changed ID creates new functions. */
  id: string;
  /** Default: SERVICE_EVENT_KEY. Not needed in dev mode. */
  eventKey?: string | undefined;
  /** Address of the service. Default: SERVICE_BASE_URL; in dev mode http://127.0.0.1:8288. */
  baseUrl?: string | undefined;
  /** Name of the branch environment. Default: SERVICE_ENV. */
  env?: string | undefined;
  /** Default: SERVICE_DEV, which is 1, true or the address of a local service. */
  isDev?: boolean | undefined;
  /** `signkey-<word>-<hex>`. Default: SERVICE_SIGNING_KEY. Not needed in dev mode, nor by apps that only send. */
  signingKey?: string | undefined;
  /** Second accepted key during a key rotation.
   *  Default: SERVICE_SIGNING_KEY_FALLBACK. */
  signingKeyFallback?: string | undefined;
  /** Largest request with events; larger sends are split. Default: 524,288, the limit of the service. */
  maxBytes?: number | undefined;
  /** For `logger` in handlers. Default: the console. */
  logger?: Logger | undefined;
  /** Whether what handlers log with `logger` is sent to the service. Default: SERVICE_LOGS, or true unless a middleware encodes values. */
  logs?: boolean | undefined;
  /** Whether errors are sent with the lines of code around the place where they were thrown. Default: SERVICE_ERROR_SOURCE, or true. */
  errorSource?: boolean | undefined;
  /** Whether calls of functions continue after a step, once it is stored, instead of ending with the step. Functions can have their own. Default:
   *  true, except on platforms that limit the time of requests, such as AWS Lambda, Vercel, Netlify and Cloudflare. */
  checkpoint?: Checkpoint | undefined;
  /** Version or build of the app, such as a commit or the ID of a deployment: the service tells versions apart by it. */
  appVersion?: string | undefined;
  /** Whether runs end on the version of the app on which they begin (`pinned`), or continue with the newest (`latest`). Functions can have their own. Default:
   *  as set in the service, `latest` at first. */
  versioning?: Versioning | undefined;
  /** For requests to the service, for example through a proxy. Default: node:http on Node, else the global fetch. */
  fetch?: typeof fetch | undefined;
  /** For all functions and sends. The first is the outermost. */
  middleware?: readonly AnyMiddleware[] | undefined;
}

export const CLIENT_OPTIONS = Object.keys({
  id: true,
  eventKey: true,
  baseUrl: true,
  env: true,
  isDev: true,
  signingKey: true,
  signingKeyFallback: true,
  maxBytes: true,
  logger: true,
  logs: true,
  errorSource: true,
  checkpoint: true,
  appVersion: true,
  versioning: true,
  fetch: true,
  middleware: true,
} satisfies Record<keyof ClientOptions, true>);

/** Reading a required setting that is missing throws a ConfigError. */
export interface Settings {
  /** Also the expected mode of the service. */
  readonly mode: 'dev' | 'cloud';
  readonly env: string | undefined;
  readonly request: SendRequest;
  readonly maxBytes: number;
  readonly logger: Logger;
  /** undefined: unless a middleware encodes values. */
  readonly logs: boolean | undefined;
  readonly errorSource: boolean;
  /** undefined: as the platform allows. */
  readonly checkpoint: Checkpoint | undefined;
  readonly appVersion: string | undefined;
  /** URL under which the service reaches the app, without a trailing slash. */
  readonly serveOrigin: string | undefined;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly eventKey: string;
  readonly signingKey: string;
  readonly signingKeyFallback: string | undefined;
}

/** @throws ConfigError if SERVICE_DEV is invalid */
export function readSettings(options: ClientOptions, env: Env = currentEnv()): Settings {
  const service = readServiceDev(env);
  const dev = options.isDev ?? service.dev;
  return {
    mode: dev ? 'dev' : 'cloud',
    env: options.env || env.SERVICE_ENV || undefined,
    request: requestBy(options.fetch),
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    logger: options.logger ?? console,
    logs: options.logs ?? (env.SERVICE_LOGS ? isOn(env.SERVICE_LOGS) : undefined),
    checkpoint: options.checkpoint,
    appVersion: options.appVersion || undefined,
    errorSource: options.errorSource ?? isOn(env.SERVICE_ERROR_SOURCE),
    get serveOrigin() {
      return env.SERVICE_SERVE_ORIGIN ? toOrigin(env.SERVICE_SERVE_ORIGIN) : undefined;
    },
    get baseUrl() {
      const devUrl = dev ? service.url : undefined;
      const url = options.baseUrl || devUrl || env.SERVICE_BASE_URL || (dev ? DEV_BASE_URL : undefined);
      if (!url) throw missing('base URL', 'SERVICE_BASE_URL', 'baseUrl');
      return toBaseUrl(url);
    },
    get eventKey() {
      const key = options.eventKey || env.SERVICE_EVENT_KEY || (dev ? DEV_EVENT_KEY : undefined);
      if (!key) throw missing('event key', 'SERVICE_EVENT_KEY', 'eventKey');
      return key;
    },
    get signingKey() {
      const key = options.signingKey || env.SERVICE_SIGNING_KEY;
      if (!key) throw missing('signing key', 'SERVICE_SIGNING_KEY', 'signingKey');
      return checkSigningKey(key, 'SERVICE_SIGNING_KEY', 'signingKey');
    },
    get signingKeyFallback() {
      const key = options.signingKeyFallback || env.SERVICE_SIGNING_KEY_FALLBACK;
      return key ? checkSigningKey(key, 'SERVICE_SIGNING_KEY_FALLBACK', 'signingKeyFallback') : undefined;
    },
  };
}

function readServiceDev({ SERVICE_DEV: value = '' }: Env): { dev: boolean; url?: string } {
  if (['', '0', 'false'].includes(value)) return { dev: false };
  if (['1', 'true'].includes(value)) return { dev: true };
  if (isHttpUrl(value)) return { dev: true, url: value };
  throw new ConfigError(`SERVICE_DEV: got ${JSON.stringify(value)}; it takes 1, true, 0, false or an http(s) address`);
}

function isOn(value = ''): boolean {
  return value !== '0' && value !== 'false';
}

/** Does not reveal the key. */
function checkSigningKey(key: string, variable: string, option: string): string {
  if (isSigningKey(key)) return key;
  throw new ConfigError(`The signing key (${variable}, or the option ${option}) must look like signkey-<word>-<hex>`);
}

/** @throws ConfigError if it is not a URL, or has a path */
export function toOrigin(url: string): string {
  if (isHttpUrl(url) && new URL(url).pathname === '/') return url.replace(/\/+$/, '');
  throw new ConfigError(
    `The serve origin (SERVICE_SERVE_ORIGIN, or the option serveOrigin) must be such as https://shop.example, got ${JSON.stringify(url)}`,
  );
}

function toBaseUrl(url: string): string {
  if (isHttpUrl(url)) return url.replace(/\/+$/, '');
  throw new ConfigError(
    `The base URL (SERVICE_BASE_URL, or the option baseUrl) is not an http(s) address: ${JSON.stringify(url)}`,
  );
}

function isHttpUrl(value: string): boolean {
  return /^https?:\/\//.test(value) && URL.canParse(value);
}

function missing(what: string, variable: string, option: string): ConfigError {
  return new ConfigError(`There is no ${what}: set ${variable} (or pass ${option} to new Tidegate()). ${DEV_HINT}`);
}
