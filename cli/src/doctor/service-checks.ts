/** Whether this machine reaches the service and may ask it, whether their clocks agree, and what the service finds itself. */
import type { ApiClient, Json } from '../api-client.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { unreachable } from '../service-errors.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const TIMEOUT_MS = 10_000;
/** Beyond this, signatures and times of webhooks begin to be refused. */
const CLOCK_PROBLEM_MS = 60_000;
const CLOCK_WARNING_MS = 5_000;

export interface ServiceChecks {
  findings: Finding[];
  /** undefined: the service did not tell. */
  publicUrl: string | undefined;
  /** Why the service cannot be asked, as an exit code; undefined: it has answered. */
  failedWith: number | undefined;
}

export async function checkService(api: ApiClient): Promise<ServiceChecks> {
  const { url, urlFrom } = api.settings;
  const findings: Finding[] = [];
  try {
    findings.push(await checkClock(api));
    const { data } = await api.get('/v1/health/checks');
    const address = ok('service', `${url} answers, in ${data.mode} mode`);
    const publicUrl = data.public_url ?? undefined;
    return { findings: [address, ...findings, ...data.checks], publicUrl, failedWith: undefined };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    findings.push(failure(error, `${url} (${urlFrom})`));
    return { findings, publicUrl: undefined, failedWith: error.exitCode };
  }
}

function failure({ exitCode, message, hint }: CliError, address: string): Finding {
  if (exitCode === EXIT.notFound) {
    const upgrade = 'Upgrade the service, or use the command line of its release.';
    return warning('service', `the service at ${address} is older than this command: it has no health checks`, upgrade);
  }
  if (exitCode === EXIT.notAuthorized) {
    const need = 'Set TIDEGATE_API_KEY to an API key that is not bound to an environment; read access is enough.';
    return problem('api_key', message, need);
  }
  return problem('service', message, hint ?? 'Start it: scripts/start web.');
}

/** From the `Date` header, which has whole seconds. */
async function checkClock({ settings }: ApiClient): Promise<Finding> {
  const startedAt = Date.now();
  const response = await fetch(`${settings.url}/livez`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error) => {
    throw unreachable(settings, error);
  });
  const endedAt = Date.now();
  await response.body?.cancel();
  const serverMs = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(serverMs)) return ok('clock', 'the service tells no time');
  const behindMs = startedAt - (serverMs + 999);
  const aheadMs = serverMs - endedAt;
  const offMs = Math.max(behindMs, aheadMs, 0);
  if (offMs < CLOCK_WARNING_MS) return ok('clock', 'the clocks of this machine and of the service agree');
  const how = aheadMs > 0 ? 'behind' : 'ahead of';
  const message = `the clock of this machine is ${Math.round(offMs / 1_000)} s ${how} that of the service`;
  return (offMs < CLOCK_PROBLEM_MS ? warning : problem)(
    'clock',
    message,
    'Synchronize both by NTP (timedatectl set-ntp true).',
  );
}

/** The apps of the selected environment, asked by the service. */
export async function checkApps(api: ApiClient): Promise<Finding[]> {
  const apps: Json[] = await api.list('/v1/apps', {}, APPS_MAX);
  if (apps.length === 0) return [ok('apps', 'no app is registered in this environment')];
  const found = await Promise.all(apps.map((app) => checkApp(api, app.name)));
  return found.flat();
}

const APPS_MAX = 20;

async function checkApp(api: ApiClient, name: string): Promise<Finding[]> {
  try {
    const { data } = await api.post(`/v1/apps/${encodeURIComponent(name)}/check`, {});
    if (data.ok) return [ok('apps', `${name} answers`)];
    const found = data.reachable ? warning : problem;
    return data.problems.map(({ message, fix }: Json) => found('apps', `${name}: ${message}`, fix));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.exitCode === EXIT.notAuthorized) return [ok('apps', `${name}: not asked; that needs write access`)];
    return [warning('apps', `${name} could not be checked: ${error.message}`, 'Try again.')];
  }
}
