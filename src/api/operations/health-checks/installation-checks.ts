/** Health checks of the installation's setup: settings, keys, webhooks. */
import type { Config } from '../../../config.ts';
import { sum } from '../../../model/values/sum.ts';
import { ISSUE_KINDS } from '../../../model/webhooks/issue.ts';
import { heldOfAll } from '../../../store/apps/held-registrations.ts';
import type { Store } from '../../../store/store.ts';
import { type Finding, type HealthCheck, ok, orOk, problem, warning } from './check.ts';

const ISSUES_READ_MAX = 200;

const ISSUE_TEXTS: Record<(typeof ISSUE_KINDS)[number], string> = {
  verification: 'requests that could not be verified',
  transform: 'a transform or filter that fails',
  quarantine: 'a transform in quarantine',
  silence: 'no requests for an unusually long time',
};

export interface InstallationCheckDeps
  extends Pick<Store, 'secretKeyCheck' | 'webhookIssues' | 'environments' | 'heldRegistrations'> {
  config: Config;
}

export function installationChecks({
  config,
  secretKeyCheck,
  webhookIssues,
  environments,
  heldRegistrations,
}: InstallationCheckDeps): HealthCheck[] {
  return [
    { id: 'settings', run: async () => settings(config) },
    { id: 'secret_key', run: () => secretKey(config, secretKeyCheck) },
    { id: 'webhooks', run: (nowMs) => issues(webhookIssues, nowMs) },
    { id: 'registrations', run: (nowMs) => registrations(environments, heldRegistrations, nowMs) },
  ];
}

function settings({ dev, publicUrl, trustProxy, apiKey }: Config): Finding[] {
  if (dev) return [ok('dev mode: no request needs a key; not for production')];
  const found: Finding[] = [];
  if (publicUrl === undefined) {
    const message = 'PUBLIC_URL is not set: webhook URLs and links have the address by which the caller reached web';
    found.push(problem(message, 'Set it to the public address, such as https://events.example.com.'));
  }
  if (publicUrl?.startsWith('https:') && trustProxy === 0) {
    const message =
      'TRUST_PROXY is 0, but PUBLIC_URL is https: all requests seem to come from the address of the proxy';
    found.push(warning(message, 'Set TRUST_PROXY to the number of proxies in front of web.'));
  }
  if (apiKey !== undefined) {
    const message = 'the setting API_KEY is an admin key that nobody can revoke without a restart';
    found.push({ status: 'ok', message, remedy: 'Create API keys by POST /v1/api-keys, and unset API_KEY.' });
  }
  return orOk(found, 'complete');
}

async function secretKey(config: Config, check: Store['secretKeyCheck']): Promise<Finding[]> {
  const found: Finding[] = [];
  const unreadable = await check.unreadableWebhooks();
  if (unreadable !== undefined) {
    const message = `SECRET_KEY does not decrypt the secrets of the webhooks ${unreadable}, which reject all requests`;
    found.push(problem(message, 'Set SECRET_KEY_FALLBACK to the previous key, or save their secrets again.'));
  }
  try {
    await check.verify();
  } catch {
    const message = 'neither SECRET_KEY nor SECRET_KEY_FALLBACK decrypts the signing keys in Redis';
    found.push(problem(message, 'Set SECRET_KEY_FALLBACK to the previous key; `scripts/start release` tells more.'));
  }
  if (config.secretKeyFallback !== undefined) {
    const message = 'SECRET_KEY_FALLBACK is still set';
    found.push(warning(message, 'Once all processes have restarted with the new SECRET_KEY, unset it.'));
  }
  return orOk(found, 'SECRET_KEY decrypts what is stored');
}

async function issues(webhookIssues: InstallationCheckDeps['webhookIssues'], nowMs: number): Promise<Finding[]> {
  const count = await webhookIssues.count('open', nowMs);
  const positions = await webhookIssues.list(['open'], undefined, ISSUES_READ_MAX, nowMs);
  const open = (await webhookIssues.read(positions.map(({ id }) => id))).filter((issue) => issue !== undefined);
  const found = ISSUE_KINDS.flatMap((kind) => {
    const of = open.filter((issue) => issue.kind === kind).length;
    if (of === 0) return [];
    const message = `${of}${count > ISSUES_READ_MAX ? ' or more' : ''} with ${ISSUE_TEXTS[kind]}`;
    return [
      (kind === 'silence' ? warning : problem)(
        message,
        'GET /v1/webhook-issues, or Webhooks in the dashboard, has them.',
      ),
    ];
  });
  return orOk(found, 'no issue is open');
}

async function registrations(
  environments: InstallationCheckDeps['environments'],
  heldRegistrations: InstallationCheckDeps['heldRegistrations'],
  nowMs: number,
): Promise<Finding[]> {
  const existing = await environments.all();
  const all = existing.map(async ({ name: env }) => ({ env, byApp: await heldRegistrations.byApp(env, nowMs) }));
  const found = (await Promise.all(all)).flatMap(({ env, byApp }) => {
    const held = heldOfAll(byApp);
    const [newest] = held;
    if (!newest) return [];
    const refused = sum(byApp.values(), (app) => app.refused?.count ?? 0);
    const more = refused > 0 ? `, and ${refused} refused, since as many were held as may be` : '';
    const message = `${env}: ${held.length} held, such as ${newest.app} at ${newest.origins.join(', ')}, which nobody has allowed${more}`;
    return [warning(message, `Confirm or reject them: \`tidegate apps held --env ${env}\`, or Apps in the dashboard.`)];
  });
  return orOk(found, 'none waits for a confirmation');
}
