/** Finds apps that listen on this machine, at the usual ports and paths of frameworks and SDKs. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { type Dispatcher, request } from 'undici';
import type { Dialect } from '../model/apps/app.ts';
import { isLoopback } from '../settings/checks.ts';
import { dialectOf } from './headers.ts';
import { readText } from './http-agent.ts';

/** Paths of Tidegate's clients, the official SDKs, and some hosts. */
export const PATHS = [
  '/api/service',
  '/api/inngest',
  '/x/inngest',
  '/.netlify/functions/inngest',
  '/.redwood/functions/inngest',
] as const;

const CONNECT_MS = 500;
const INTROSPECT_MS = 2_000;
const RESPONSE_MAX_BYTES = 65_536;
/** A program that listens on `localhost` may use either. */
const HOSTS = ['127.0.0.1', '::1'] as const;

export interface LocalApp {
  dialect: Dialect;
  /** Changes with the app's introspection. */
  hash: string;
  mode: 'dev' | 'cloud' | undefined;
}

/** Host in the URL for the port; undefined if no process listens on the port. */
export async function listeningHost(port: number): Promise<string | undefined> {
  for (const host of HOSTS) if (await listens(host, port)) return host.includes(':') ? `[${host}]` : host;
  return undefined;
}

function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    const end = (listening: boolean) => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** Introspection of the app at the URL; undefined if there is no app. Never throws. */
export async function introspectLocal(
  url: string,
  agent: Dispatcher,
  closing: AbortSignal,
): Promise<LocalApp | undefined> {
  try {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(INTROSPECT_MS)]);
    const { headers, body, statusCode } = await request(url, { dispatcher: agent, signal });
    const dialect = dialectOf(headers);
    const text = await readText(body, RESPONSE_MAX_BYTES);
    if (dialect === undefined) return undefined;
    const hash = createHash('sha256').update(`${statusCode} ${text}`).digest('base64url');
    return { dialect, hash, mode: modeIn(text) };
  } catch {
    return undefined;
  }
}

function modeIn(text: string): LocalApp['mode'] {
  try {
    const { mode } = Object(JSON.parse(text)) as { mode?: unknown };
    return mode === 'dev' || mode === 'cloud' ? mode : undefined;
  } catch {
    return undefined;
  }
}

/** Equal for all names of this machine; undefined for URLs of others. */
export function localKey(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'http:' || !isLoopback(parsed.hostname)) return undefined;
  return `${parsed.port || 80}${parsed.pathname}`;
}
