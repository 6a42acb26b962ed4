/** Measures the rules of alerts from existing counts, so that events and runs pay nothing for them. */
import { ALERTS_OF_RULE_MAX, type Measured } from '../../model/alerts/alert.ts';
import type { RuleId, RuleSettings } from '../../model/alerts/rules.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { BRANCHES, PRODUCTION } from '../../model/environment.ts';
import { ALERT_OPENED, ALERT_RESOLVED } from '../../model/events/event.ts';
import { listensTo } from '../../model/events/triggers.ts';
import { MINUTE_MS, shownSpan } from '../../model/values/time.ts';
import type { Redis } from '../../store/redis/connection/connection.ts';
import { readServerInfo } from '../../store/redis/connection/server-info.ts';
import type { Store } from '../../store/store.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import type { FunctionLanes } from '../flow-control/function-lanes.ts';
import { limitHolds } from '../flow-control/limit-holds.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import { queueStatuses } from '../queues/queue-status.ts';

export interface MeasureDeps
  extends Pick<
    Store,
    | 'archiveStatus'
    | 'appVersions'
    | 'apps'
    | 'errorGroups'
    | 'functionSeries'
    | 'heldEvents'
    | 'limitUsage'
    | 'metrics'
    | 'pausedRuns'
    | 'processes'
    | 'webhookIssues'
    | 'webhookReconciliations'
    | 'webhooks'
  > {
  redis: Redis;
  functions: Pick<FunctionTables, 'of'>;
  functionLanes: Pick<FunctionLanes, 'stopped'>;
  queues: PartitionQueues;
  /** undefined without an archive. */
  hotMs: number | undefined;
}

export interface MeasureContext {
  env: string;
  settings: RuleSettings;
  nowMs: number;
}

type Measure = (deps: MeasureDeps, context: MeasureContext) => Promise<Measured[]>;

const ENDED_MIN = 10;
const NAME_MAX = 120;
/** Maximum number of functions per environment and round: those with the most failures, or calls. */
const FUNCTIONS_READ = 50;
const ISSUES_READ = 500;
const WEBHOOKS_READ = 1_000;

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 }).format;

const MEASURES: Record<RuleId, Measure> = {
  async function_failing({ metrics, functionSeries, functions }, { env, settings, nowMs }) {
    const from = nowMs - settings.windowSeconds * 1_000;
    const table = await functions.of(env);
    const failing = (await metrics.functions(env, from, nowMs))
      .filter(({ failed, functionId }) => failed > 0 && !actsOnAlerts(table.find(functionId)))
      .sort((a, b) => b.failed - a.failed)
      .slice(0, FUNCTIONS_READ);
    const measured = failing.map(async ({ functionId }): Promise<Measured[]> => {
      const points = await functionSeries.runs(env, functionId, from, nowMs, MINUTE_MS);
      let [failed, ended] = [0, 0];
      for (const { counts } of points) {
        failed += counts.failed;
        ended += counts.failed + counts.completed;
      }
      if (ended < ENDED_MIN) return [];
      const value = (100 * failed) / ended;
      const detail = `${number(value)} % of runs failed, ${failed} of ${ended} in ${shownSpan(settings.windowSeconds * 1_000)}`;
      const path = `/runs?status=Failed&function=${encodeURIComponent(functionId)}`;
      return [{ subject: functionId, name: table.find(functionId)?.name ?? functionId, value, detail, path }];
    });
    return (await Promise.all(measured)).flat();
  },

  async new_error({ errorGroups, functions }, { env, settings, nowMs }) {
    const from = nowMs - settings.windowSeconds * 1_000;
    const recent = await errorGroups.recent(env, from, FUNCTIONS_READ);
    const table = await functions.of(env);
    return (await errorGroups.read(env, recent)).flatMap((group) => {
      if (group?.state !== 'open' || actsOnAlerts(table.find(group.functionId))) return [];
      const { fingerprint: subject, functionId, name, message, count, openedAt, alertChannels: channels } = group;
      const runs = `${number(count)} ${count === 1 ? 'run' : 'runs'} of ${table.find(functionId)?.name ?? functionId}`;
      return [
        {
          subject,
          name: shortened(`${name}: ${message}`.split('\n')[0] ?? name),
          value: count,
          detail: `failed ${runs}`,
          path: `/errors/${subject}`,
          channels,
          // An error group that names channels has an alert even if its failure is known.
          ...(openedAt < from && !channels && { isKnown: true }),
        },
      ];
    });
  },

  async runs_paused({ pausedRuns }, { env }) {
    const count = await pausedRuns.count([env]);
    const detail = `${number(count)} wait until somebody resumes them`;
    return count === 0 ? [] : [{ subject: '', name: '', value: count, detail, path: '/runs?status=paused' }];
  },

  async version_draining({ appVersions, apps }, { env }) {
    const pinned = await appVersions.withPinnedRuns([env]);
    if (pinned.length === 0) return [];
    const choices = await appVersions.allChoices(env);
    const active = new Map((await apps.all(env)).map(({ name, deployId }) => [name, deployId]));
    return pinned.flatMap(({ app, version, count }) => {
      if (version === active.get(app) || version === choices.get(app)?.ramp?.version) return [];
      const name = `${app} ${version}`;
      const detail = `${number(count)} runs end on it`;
      return [{ subject: name, name, value: count, detail, path: `/apps/${encodeURIComponent(app)}` }];
    });
  },

  async limit_holds({ limitUsage, functions }, { env, nowMs }) {
    const holds = await limitHolds(env, limitUsage);
    if (holds.length === 0) return [];
    const table = await functions.of(env);
    return holds.map(({ functionId, waiting, since }) => {
      const seconds = Math.max(0, (nowMs - since) / 1_000);
      const detail = `the first of ${number(waiting)} calls has waited for ${shownSpan(seconds * 1_000)}`;
      const name = table.find(functionId)?.name ?? functionId;
      return { subject: functionId, name, value: seconds, detail, path: functionPath(functionId) };
    });
  },

  async lane_stopped({ functionLanes, functions }, { env, nowMs }) {
    const limits = { orders: FUNCTIONS_READ, lanes: ALERTS_OF_RULE_MAX };
    const stopped = await functionLanes.stopped(env, limits);
    if (stopped.length === 0) return [];
    const table = await functions.of(env);
    return [...Map.groupBy(stopped, ({ current }) => current?.functionId ?? '')].map(([functionId, lanes]) => {
      const seconds = (nowMs - Math.min(...lanes.map(({ since }) => since))) / 1_000;
      const more = lanes.length >= limits.lanes ? ' or more' : '';
      const detail = `${lanes.length}${more} stopped, the first ${shownSpan(seconds * 1_000)} ago`;
      const name = table.find(functionId)?.name ?? functionId;
      return { subject: functionId, name, value: seconds, detail, path: functionPath(functionId) };
    });
  },

  webhook_failing: async (deps, context) => {
    const issues = await openIssues(deps, context);
    return issues.flatMap(({ issue, name }) => {
      if (issue.kind === 'silence') return [];
      const detail = `${number(issue.count)} × ${issue.kind}: ${issue.sample.message}`;
      return [{ subject: issue.id, name, value: issue.count, detail, path: `/webhooks/${issue.webhookId}?tab=issues` }];
    });
  },

  webhook_silent: async (deps, context) => {
    const issues = await openIssues(deps, context);
    return issues.flatMap(({ issue, name }) => {
      if (issue.kind !== 'silence') return [];
      const value = (context.nowMs - issue.openedAt) / 1_000;
      return [
        {
          subject: issue.id,
          name,
          value,
          detail: issue.sample.message,
          path: `/webhooks/${issue.webhookId}?tab=issues`,
        },
      ];
    });
  },

  async webhook_incomplete({ webhooks, webhookReconciliations }, { env, nowMs }) {
    const entered = await webhooks.readEach(await webhookReconciliations.entered(WEBHOOKS_READ));
    const reconciled = entered.filter(({ reconciliation }) => reconciliation !== undefined);
    const measured = webhooksAlertedBy(reconciled, env).map(async ({ id, name }): Promise<Measured[]> => {
      const { missing } = await webhookReconciliations.counts(id, { from: 0, to: nowMs });
      if (missing === 0) return [];
      const detail = `${number(missing)} requests of the provider did not come, and could not be recovered yet`;
      return [{ subject: id, name, value: missing, detail, path: `/webhooks/${id}?tab=requests` }];
    });
    return (await Promise.all(measured)).flat();
  },

  async held_events({ heldEvents }, { nowMs }) {
    const count = await heldEvents.count(nowMs);
    const detail = `${number(count)} wait for an environment`;
    return count === 0 ? [] : [{ subject: '', name: '', value: count, detail, path: '/held-events' }];
  },

  async backlog_old({ queues }, { nowMs }) {
    return (await queueStatuses(queues, nowMs)).flatMap(({ name, waiting, oldestWaitingAt }) => {
      if (oldestWaitingAt === undefined) return [];
      const seconds = Math.max(0, (nowMs - oldestWaitingAt) / 1_000);
      const detail = `the oldest of ${number(waiting)} jobs has waited for ${shownSpan(seconds * 1_000)}`;
      return [{ subject: name, name, value: seconds, detail, path: '/' }];
    });
  },

  async no_worker({ processes }) {
    const isMissing = !(await processes.alive()).some(({ kind }) => kind === 'worker');
    const detail = 'no worker runs: events are accepted, and not processed';
    return isMissing ? [{ subject: '', name: '', value: 1, detail, path: '/' }] : [];
  },

  async redis_memory({ redis }) {
    const { cluster, ...server } = await readServerInfo(redis);
    const { usedMemoryBytes, maxMemoryBytes } = cluster?.fullest ?? server;
    if (!maxMemoryBytes) return [];
    const value = (100 * usedMemoryBytes) / maxMemoryBytes;
    const detail = `${number(value)} % of maxmemory; events are rejected when it is full`;
    return [{ subject: '', name: '', value, detail, path: '/settings' }];
  },

  async archive_lag({ archiveStatus, hotMs }, { nowMs }) {
    if (hotMs === undefined) return [];
    const seconds = (await archiveStatus.behindMs(hotMs, nowMs)) / 1_000;
    const detail = `events have waited for Postgres for ${shownSpan(seconds * 1_000)}, and Redis grows`;
    return seconds === 0 ? [] : [{ subject: '', name: '', value: seconds, detail, path: '/' }];
  },
};

export function measure(deps: MeasureDeps, rule: RuleId, context: MeasureContext): Promise<Measured[]> {
  return MEASURES[rule](deps, context);
}

/** Open issues of webhooks whose events the environment gets. */
async function openIssues({ webhookIssues, webhooks }: MeasureDeps, { env, nowMs }: MeasureContext) {
  const positions = await webhookIssues.list(['open'], undefined, ISSUES_READ, nowMs);
  if (positions.length === 0) return [];
  const issues = (await webhookIssues.read(positions.map(({ id }) => id))).filter((issue) => issue !== undefined);
  const found = await webhooks.readEach([...new Set(issues.map(({ webhookId }) => webhookId))]);
  const names = new Map(webhooksAlertedBy(found, env).map(({ id, name }) => [id, name]));
  return issues.flatMap((issue) => {
    const name = names.get(issue.webhookId);
    return name === undefined ? [] : [{ issue, name }];
  });
}

/** Webhooks that the environment has alerts about. Production has the alerts about webhooks of all branches. */
function webhooksAlertedBy(webhooks: readonly Webhook[], env: string): Webhook[] {
  return webhooks.filter((webhook) => (webhook.env === BRANCHES ? PRODUCTION : webhook.env) === env);
}

/** An alert about a function that acts on alerts would start it again. */
function actsOnAlerts(fn: AppFunction | undefined): boolean {
  const names = [ALERT_OPENED, ALERT_RESOLVED];
  return fn?.triggers.some(({ event }) => event !== undefined && names.some((name) => listensTo(event, name))) ?? false;
}

function shortened(text: string): string {
  return text.length > NAME_MAX ? `${text.slice(0, NAME_MAX - 1)}…` : text;
}

function functionPath(id: string): string {
  return `/functions/${encodeURIComponent(id)}`;
}
