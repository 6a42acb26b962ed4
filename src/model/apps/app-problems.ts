/** Diagnoses an app from a probe and from what the service knows about it; each problem has a fix. */

import type { AppFunction, Dialect } from './app.ts';
import { functionProblems } from './function-problems.ts';

/** Why a probe got no response. */
export type ConnectionProblem = 'dns' | 'refused' | 'tls' | 'timeout' | 'blocked' | 'broken';

/** Result of a probe of the app's URL: a connection problem, or facts about the response. */
export interface ProbeResult {
  connectionProblem?: ConnectionProblem;
  /** Error message of the connection problem. */
  message?: string;
  responseTimeMs?: number;
  status?: number;
  /** The response has an SDK header. */
  isApp?: boolean;
  /** Prefix and value of that header. */
  dialect?: Dialect | undefined;
  sdk?: string | undefined;
  /** Start of the response body. */
  text?: string;
  /** Reported by the app's introspection, if available. */
  functionCount?: number;
  mode?: 'dev' | 'cloud';
  /** The app rejects calls signed with the environment's key. */
  rejectsCalls?: boolean;
}

/** Whether nothing shows that the app has left its URL. Slowness or a rejecting proxy shows nothing: anybody can cause it by many
 *  requests. */
export function mayStillBeThere({ connectionProblem, status = 0, isApp, rejectsCalls }: ProbeResult): boolean {
  if (connectionProblem) return connectionProblem === 'timeout' || connectionProblem === 'broken';
  return isApp ? !rejectsCalls : status === 429 || status >= 500;
}

/** A registered function of the app. */
export type ConfiguredFunction = Pick<AppFunction, 'id' | 'config' | 'problems'>;

/** Facts that the service knows about the app. */
export interface KnownApp {
  url: string;
  dev: boolean;
  /** Registered functions that are not archived. */
  functionCount: number;
  /** Failure handlers among them. Not every SDK includes these in its function count. */
  handlerCount: number;
  functions: readonly ConfiguredFunction[];
  /** Error of the last registration, if it failed. */
  syncError: string | undefined;
}

export const PROBLEM_CODES = [
  'dns',
  'refused',
  'tls',
  'timeout',
  'blocked',
  'broken',
  'redirect',
  'not_an_app',
  'status',
  'mode',
  'signing_key',
  'function_count',
  'sync_failed',
  'not_connected',
  'function_problem',
  'unreachable',
] as const;

export interface Problem {
  code: (typeof PROBLEM_CODES)[number];
  message: string;
  fix: string;
}

/** The only problem that principals without admin access see. */
export const UNREACHABLE: Problem = {
  code: 'unreachable',
  message: 'No app responded at the URL',
  fix: 'Ask an admin to check the app: admins see the reason.',
};

/** Most severe first. */
export function problemsOf(found: ProbeResult, known: KnownApp): Problem[] {
  const problems = found.connectionProblem
    ? [connectionProblemOf(found.connectionProblem, found.message ?? '', known)]
    : responseProblems(found, known);
  return [...problems, ...syncProblem(known), ...configurationProblems(known.functions)];
}

export function connectionProblems(
  isConnected: boolean,
  { syncError, functions }: Pick<KnownApp, 'syncError' | 'functions'>,
): Problem[] {
  const problem: Problem = {
    code: 'not_connected',
    message: 'No instance of the app is connected',
    fix: 'Start the app; it connects by itself. If it runs, check its log and whether a proxy lets WebSockets through.',
  };
  return [...(isConnected ? [] : [problem]), ...syncProblem({ syncError }), ...configurationProblems(functions)];
}

function connectionProblemOf(code: ConnectionProblem, message: string, { url }: KnownApp): Problem {
  const { hostname, origin } = new URL(url);
  const texts: Record<ConnectionProblem, [what: string, fix: string]> = {
    dns: [
      `The name ${hostname} does not resolve`,
      'Fix the name or its DNS entry, or register the app at another URL.',
    ],
    refused: [`Nothing listens at ${origin}`, 'Start the app, or register it at the address where it listens.'],
    tls: [`No TLS connection to ${origin}`, 'Install a certificate that is valid for this name.'],
    timeout: [
      'The app did not respond within 10 s',
      'Check whether the app hangs, and whether a firewall blocks the service.',
    ],
    blocked: [
      'The service does not call this address',
      'Move the app, or change BLOCK_PRIVATE_ADDRESSES or the OUTBOUND_ settings. Link-local and metadata addresses are always blocked.',
    ],
    broken: ['The connection broke', 'Check the logs of the app, or of a proxy in front of it.'],
  };
  const [what, fix] = texts[code];
  return { code, message: `${what}: ${message}`, fix };
}

function responseProblems(found: ProbeResult, known: KnownApp): Problem[] {
  const { status = 0, isApp } = found;
  if (!isApp) return [notAnAppProblem(status, known)];
  const problems: Problem[] = [];
  if (status !== 200) {
    problems.push({
      code: 'status',
      message: `The app responds with ${status}: ${found.text ?? ''}`,
      fix: 'Fix the error, and restart the app.',
    });
  }
  problems.push(...modeProblem(found, known));
  if (found.rejectsCalls) {
    problems.push({
      code: 'signing_key',
      message: 'The app rejects calls that are signed with the key of this environment',
      fix: 'Set SERVICE_SIGNING_KEY of the app to the signing key of this environment, and restart it.',
    });
  }
  problems.push(...countProblem(found, known));
  return problems;
}

function notAnAppProblem(status: number, { url }: KnownApp): Problem {
  if (status >= 300 && status < 400) {
    return {
      code: 'redirect',
      message: `${url} responds with ${status}; the service follows only 307 and 308, to another HTTP URL`,
      fix: 'Register the app at the target of the redirect.',
    };
  }
  const fix =
    status === 401 || status === 403
      ? 'A proxy in front of the app requires authentication: allow the service.'
      : 'Register the app at the URL of its `serve` handler.';
  return { code: 'not_an_app', message: `The response of ${url} (status ${status}) is not from an app`, fix };
}

function modeProblem({ mode }: ProbeResult, { dev }: KnownApp): Problem[] {
  if (mode === undefined || (mode === 'dev') === dev) return [];
  const [is, other] = dev ? ['dev', 'cloud'] : ['production', 'dev'];
  return [
    {
      code: 'mode',
      message: `The app is in ${other} mode, the service in ${is} mode`,
      fix: dev
        ? "Set SERVICE_DEV=1 for the app, or SERVICE_DEV=<the service's address> where its port is not 8288 (INNGEST_DEV with an official SDK), and restart it."
        : 'Unset SERVICE_DEV of the app, give it the signing key, and restart it.',
    },
  ];
}

function countProblem(found: ProbeResult, { functionCount, handlerCount }: KnownApp): Problem[] {
  const expected = [undefined, functionCount, functionCount - handlerCount];
  if (expected.includes(found.functionCount)) return [];
  return [
    {
      code: 'function_count',
      message: `The app has ${found.functionCount} functions, but registered ${functionCount}`,
      fix: 'Register it again.',
    },
  ];
}

function configurationProblems(functions: readonly ConfiguredFunction[]): Problem[] {
  return functions.flatMap((fn) =>
    functionProblems(fn).map((problem) => ({
      code: 'function_problem' as const,
      message: `${fn.id}: ${problem}`,
      fix: 'Correct the function, and register the app again.',
    })),
  );
}

function syncProblem({ syncError }: Pick<KnownApp, 'syncError'>): Problem[] {
  if (syncError === undefined) return [];
  return [
    {
      code: 'sync_failed',
      message: `The last registration failed: ${syncError}`,
      fix: 'Fix the error, and register the app again.',
    },
  ];
}
