/** What is wrong with an app, by what a visit found and what the service knows of it; each with how to mend it. */

/** Why an app could not be asked. */
export type ConnectionProblem = 'dns' | 'refused' | 'tls' | 'timeout' | 'blocked' | 'broken';

/** What a visit to the app's URL found; an obstacle, or what was answered. */
export interface ProbeResult {
  connectionProblem?: ConnectionProblem;
  /** Of the obstacle, in its own words. */
  message?: string;
  responseTimeMs?: number;
  status?: number;
  /** The answer is one of an app. */
  isApp?: boolean;
  /** How its answer begins, if it is not as it should be. */
  text?: string;
  /** What the app says of itself, if it does. */
  functionCount?: number;
  mode?: 'dev' | 'cloud';
  /** The app does not take calls signed with the environment's key. */
  rejectsCalls?: boolean;
}

/** What the service knows. */
export interface KnownApp {
  url: string;
  dev: boolean;
  /** Functions that it has registered and not taken away. */
  functionCount: number;
  /** How many of them handle failures of others: libraries differ in whether they count those. */
  handlerCount: number;
  /** Of the last registration, if it failed. */
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
  'unreachable',
] as const;

export interface Problem {
  code: (typeof PROBLEM_CODES)[number];
  message: string;
  fix: string;
}

/** All that a caller without admin access is told. */
export const UNREACHABLE: Problem = {
  code: 'unreachable',
  message: 'No app answered at the URL',
  fix: 'Ask an admin to check the app: they see the reason.',
};

/** The gravest first. */
export function problemsOf(found: ProbeResult, known: KnownApp): Problem[] {
  const answer = found.connectionProblem
    ? [obstacleProblem(found.connectionProblem, found.message ?? '', known)]
    : answerProblems(found, known);
  return [...answer, ...syncProblem(known)];
}

function obstacleProblem(code: ConnectionProblem, message: string, { url }: KnownApp): Problem {
  const { hostname, origin } = new URL(url);
  const told: Record<ConnectionProblem, [what: string, fix: string]> = {
    dns: [`The name ${hostname} leads nowhere`, 'Mend the name or its DNS entry, or register the app at another URL.'],
    refused: [`Nothing listens at ${origin}`, 'Start the app, or register it at the address where it listens.'],
    tls: [`No safe connection to ${origin}`, 'Give the app a certificate that is valid for this name.'],
    timeout: [
      'The app did not answer within 10 s',
      'See whether it hangs, and whether a firewall lets the service through.',
    ],
    blocked: [
      'The service does not call this address',
      'Move the app, or change BLOCK_PRIVATE_ADDRESSES or the OUTBOUND_ settings. Link-local and metadata addresses stay closed.',
    ],
    broken: ['The connection broke', 'See what the app, or a proxy before it, wrote at that moment.'],
  };
  const [what, fix] = told[code];
  return { code, message: `${what}: ${message}`, fix };
}

function answerProblems(found: ProbeResult, known: KnownApp): Problem[] {
  const { status = 0, isApp } = found;
  if (!isApp) return [strangerProblem(status, known)];
  const problems: Problem[] = [];
  if (status !== 200) {
    problems.push({
      code: 'status',
      message: `The app answers ${status}: ${found.text ?? ''}`,
      fix: 'Mend what it says, and start the app again.',
    });
  }
  problems.push(...modeProblem(found, known));
  if (found.rejectsCalls) {
    problems.push({
      code: 'signing_key',
      message: 'The app refuses calls that are signed with the key of this environment',
      fix: 'Set SERVICE_SIGNING_KEY of the app to the signing key of this environment, and start it again.',
    });
  }
  problems.push(...countProblem(found, known));
  return problems;
}

function strangerProblem(status: number, { url }: KnownApp): Problem {
  if (status >= 300 && status < 400) {
    return {
      code: 'redirect',
      message: `${url} answers ${status}, and redirects are not followed`,
      fix: 'Register the app at the URL that it leads to.',
    };
  }
  const fix =
    status === 401 || status === 403
      ? 'Something before the app asks who is there: let the service through.'
      : 'Register the app at the URL that `serve` answers on.';
  return { code: 'not_an_app', message: `What answers at ${url} (status ${status}) is not an app`, fix };
}

function modeProblem({ mode }: ProbeResult, { dev }: KnownApp): Problem[] {
  if (mode === undefined || (mode === 'dev') === dev) return [];
  const [is, other] = dev ? ['dev', 'cloud'] : ['production', 'dev'];
  return [
    {
      code: 'mode',
      message: `The app is in ${other} mode, the service in ${is} mode`,
      fix: dev
        ? 'Set SERVICE_DEV=1 for the app, and start it again.'
        : 'Unset SERVICE_DEV of the app, give it the signing key, and start it again.',
    },
  ];
}

function countProblem(found: ProbeResult, { functionCount, handlerCount }: KnownApp): Problem[] {
  const fitting = [undefined, functionCount, functionCount - handlerCount];
  if (fitting.includes(found.functionCount)) return [];
  return [
    {
      code: 'function_count',
      message: `The app has ${found.functionCount} functions, and has registered ${functionCount}`,
      fix: 'Register it again.',
    },
  ];
}

function syncProblem({ syncError }: KnownApp): Problem[] {
  if (syncError === undefined) return [];
  return [
    {
      code: 'sync_failed',
      message: `The last registration failed: ${syncError}`,
      fix: 'Mend what it says, and register the app again.',
    },
  ];
}
