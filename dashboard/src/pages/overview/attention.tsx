import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Alert, Overview, Status } from '../../api/types.ts';
import { alertLink, alertTitle } from '../../features/alerts/alert.ts';
import { useStatus } from '../../features/status/use-status.ts';
import { formatCount } from '../../lib/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { duration, useNow } from '../../ui/time.tsx';
import { useRejectedRequests } from './rejected-requests.ts';

const ALERTS_SHOWN = 5;
const HOLDS_SHOWN = 3;
const REFETCH_MS = 10_000;

interface Line {
  key: string;
  text: string;
  hint: string;
  link: LinkProps;
  isCritical?: boolean;
  /** Rules whose alerts say the same. */
  rules?: readonly string[];
}

/** What needs a person: open alerts, then what waits for a decision; one line says so if nothing does.
 *  @param overview undefined: it cannot be read */
export function Attention({ overview }: { overview: Overview | undefined }) {
  const { data: status } = useStatus();
  const alerts = useOpenAlerts();
  const rejected = useRejectedRequests();
  const now = useNow();
  if (!status || !alerts) return null;
  const told = new Set<string>(alerts.map(({ rule }) => rule));
  const waiting = [
    ...linesOf(status, overview?.paused_runs ?? 0, rejected),
    ...holdLines(overview?.limit_holds ?? [], now),
  ].filter(({ rules = [] }) => !rules.some((rule) => told.has(rule)));
  const lines = [...alerts.map(lineOfAlert), ...waiting];
  return (
    <Card>
      {lines.length === 0 ? (
        <p className="flex items-center gap-3 px-4 py-3">
          <Icon name="check" className="text-good" />
          Nothing needs you.
        </p>
      ) : (
        <ul className="divide-y divide-line" aria-label="Needs attention">
          {lines.map(({ key, text, hint, link, isCritical }) => (
            <li key={key}>
              <Link {...link} className="flex items-start gap-3 px-4 py-2.5 hover:bg-sunken">
                <Icon name="warning" className={`mt-0.5 ${isCritical ? 'text-bad' : 'text-warn'}`} />
                <span className="min-w-0 flex-1 gap-x-3 sm:flex sm:flex-wrap sm:items-baseline">
                  <span className="block font-medium break-words tabular-nums">{text}</span>
                  <span className="block min-w-0 text-sm break-words text-muted">{hint}</span>
                </span>
                <Icon name="arrow-right" className="mt-0.5 text-muted" />
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** undefined: not known yet. */
function useOpenAlerts(): Alert[] | undefined {
  const env = useEnv();
  const { data, error } = useQuery({
    queryKey: ['alerts', 'open', env, ALERTS_SHOWN],
    queryFn: ({ signal }) =>
      callApi<Alert[]>('/v1/alerts', { env, signal, query: { state: 'open', limit: ALERTS_SHOWN } }),
    refetchInterval: REFETCH_MS,
  });
  // What else needs attention is shown without them, too.
  return data?.data ?? (error ? [] : undefined);
}

function lineOfAlert(alert: Alert): Line {
  const { id, detail, path, severity } = alert;
  return {
    key: id,
    text: alertTitle(alert),
    hint: detail,
    link: alertLink(path),
    isCritical: severity === 'critical',
  };
}

function linesOf(status: Status, pausedRuns: number, rejected: number): Line[] {
  const counted: [count: number, one: string, several: string, hint: string, link: LinkProps, rules?: string[]][] = [
    [
      pausedRuns,
      'paused run',
      'paused runs',
      'No attempt was left. Mend the cause, then resume them.',
      { to: '/runs', search: { status: 'paused' } as never },
      ['runs_paused'],
    ],
    [
      status.open_errors,
      'open error',
      'open errors',
      'Runs fail with it. Mend the cause, then re-run them.',
      { to: '/errors' },
      ['new_error', 'function_failing'],
    ],
    [
      status.held_events,
      'held event',
      'held events',
      'They named no valid environment. Assign or discard them.',
      { to: '/held-events' },
      ['held_events'],
    ],
    [
      status.held_registrations,
      'registration to confirm',
      'registrations to confirm',
      'An app registered at an address that nobody has allowed.',
      { to: '/apps' },
    ],
    [
      rejected,
      'rejected webhook request',
      'rejected webhook requests',
      'In the request logs. Mend the cause, then replay them.',
      { to: '/webhooks' },
    ],
    [
      status.open_webhook_issues,
      'open webhook issue',
      'open webhook issues',
      'A webhook fails or is silent.',
      { to: '/webhook-issues' },
      ['webhook_failing', 'webhook_silent'],
    ],
  ];
  return counted
    .filter(([count]) => count > 0)
    .map(([count, one, several, hint, link, rules = []]) => {
      return { key: one, text: `${formatCount(count)} ${count === 1 ? one : several}`, hint, link, rules };
    });
}

/** What a limit has held back for long: the longest wait of each function. */
function holdLines(holds: Overview['limit_holds'], nowMs: number): Line[] {
  return holds.slice(0, HOLDS_SHOWN).map(({ function_id, name, waiting, since }) => ({
    key: `limit ${function_id}`,
    text: `${name} waits for a limit`,
    hint: `${formatCount(waiting)} ${waiting === 1 ? 'call' : 'calls'}, the first for ${duration(nowMs - Date.parse(since))}.`,
    link: { to: '/functions/$id', params: { id: function_id } } as LinkProps,
    rules: ['limit_holds'],
  }));
}
