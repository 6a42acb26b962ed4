/** Checks production dependencies for known advisories with `npm audit`. scripts/audit-allowed.json allows harmless ones, with a reason and
 *  an expiry date. */
import { spawnSync } from 'node:child_process';

/** The output of `npm audit --json`. */
export interface AuditReport {
  vulnerabilities?: Record<string, { via: (string | Advisory)[] }>;
  /** Set if the registry does not serve advisories or is unreachable. */
  message?: string;
}

interface Advisory {
  name: string;
  title: string;
  url: string;
  severity: string;
}

export interface Allowed {
  /** GHSA-… */
  advisory: string;
  reason: string;
  /** The last allowed day, such as 2027-01-31. */
  expires: string;
}

const TIMEOUT_MS = 60_000;
const SERIOUS = new Set(['high', 'critical']);

/** @param npm the program; a test has another
 *  @returns the report, or a line that says that nothing was checked, and why */
export function askRegistry(npm = 'npm'): AuditReport | string {
  const { stdout, error } = spawnSync(npm, ['audit', '--omit=dev', '--json'], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const report = parsed(stdout ?? '');
  if (report?.vulnerabilities) return report;
  const why = report?.message ?? error?.message ?? 'no response';
  return `NOT CHECKED: dependencies for known advisories. The registry serves none (${why}): run npm audit --omit=dev with one that does`;
}

/** @param today 2026-11-22 @returns a line for each advisory that is not allowed, and for each expired exception */
export function problemsIn(
  { vulnerabilities = {} }: AuditReport,
  allowed: readonly Allowed[],
  today: string,
): string[] {
  const advisories = new Map(
    Object.values(vulnerabilities)
      .flatMap(({ via }) => via)
      .filter((one) => typeof one === 'object')
      .filter(({ severity }) => SERIOUS.has(severity))
      .map((one) => [one.url.split('/').at(-1) as string, one]),
  );
  const over = allowed.filter(({ expires }) => expires < today);
  const valid = new Set(allowed.filter(({ expires }) => expires >= today).map(({ advisory }) => advisory));
  return [
    ...[...advisories]
      .filter(([id]) => !valid.has(id))
      .map(([id, { name, severity, title, url }]) => `${id} (${severity}) in ${name}: ${title}. ${url}`),
    ...over.map(({ advisory, expires, reason }) => `${advisory} was allowed until ${expires} (${reason}). Review it.`),
  ];
}

function parsed(text: string): AuditReport | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
