/** The rules of alerts (docs/alerts.md): what is measured, and the threshold at which an alert opens. One
 *  declaration feeds code, API, dashboard and docs. */

export const RULE_UNITS = ['percent', 'seconds', 'runs', 'events', 'failures', 'requests', 'workers'] as const;

interface Declared {
  title: string;
  /** Description of the value, for people. */
  measures: string;
  unit: (typeof RULE_UNITS)[number];
  /** Rules of the installation belong to production. Default: `environment`. */
  scope?: 'installation';
  /** Default: `warning`. */
  severity?: 'critical';
  /** The alert opens when the value reaches it. */
  threshold: number;
  windowSeconds: number;
  /** `over`: the value is measured over the window. `for`, the default: the value must have reached the threshold for as long as the
   *  window. */
  window?: 'over';
  /** Whether it is on unless somebody says so. Default: true. */
  isOn?: false;
}

export const ALERT_RULES = {
  function_failing: {
    title: 'Function fails',
    measures: 'Failed runs of a function, of those that ended; with at least 10',
    unit: 'percent',
    threshold: 20,
    windowSeconds: 900,
    window: 'over',
  },
  new_error: {
    title: 'New error',
    measures:
      'Failed runs with an error that is new, or was resolved; until it is resolved, or no run fails so for the window',
    unit: 'runs',
    threshold: 1,
    windowSeconds: 3_600,
    window: 'over',
  },
  runs_paused: {
    title: 'Paused runs',
    measures: 'Runs that wait until somebody resumes them, also because the version of their app vanished',
    unit: 'runs',
    threshold: 1,
    windowSeconds: 60,
  },
  version_draining: {
    title: 'Old version has runs',
    measures:
      'Runs that end on a version of an app that is no longer active. Resolved: it is drained, and its processes can stop',
    unit: 'runs',
    threshold: 1,
    windowSeconds: 60,
    isOn: false,
  },
  limit_holds: {
    title: 'Limit holds calls',
    measures: 'How long the first call of a function has waited for a limit',
    unit: 'seconds',
    threshold: 3_600,
    windowSeconds: 60,
  },
  lane_stopped: {
    title: 'Lane stopped',
    measures: 'How long a failed run has stopped a lane of a function',
    unit: 'seconds',
    threshold: 300,
    windowSeconds: 0,
  },
  webhook_failing: {
    title: 'Webhook fails',
    measures: 'Failures of an open issue of a webhook: verification, transform or quarantine',
    unit: 'failures',
    threshold: 1,
    windowSeconds: 0,
  },
  webhook_silent: {
    title: 'Webhook silent',
    measures:
      'How long a webhook has been silent: no request for over an hour, and for twice its longest pause of a week',
    unit: 'seconds',
    threshold: 0,
    windowSeconds: 0,
  },
  webhook_incomplete: {
    title: 'Webhook incomplete',
    measures: "Requests that the provider's list has, and that are still missing",
    unit: 'requests',
    threshold: 1,
    windowSeconds: 900,
  },
  held_events: {
    title: 'Held events',
    measures: 'Webhook events that wait until somebody assigns them to an environment',
    unit: 'events',
    scope: 'installation',
    threshold: 1,
    windowSeconds: 0,
  },
  backlog_old: {
    title: 'Old backlog',
    measures: 'How long the oldest job of a queue has waited',
    unit: 'seconds',
    scope: 'installation',
    severity: 'critical',
    threshold: 60,
    windowSeconds: 300,
  },
  no_worker: {
    title: 'Too few workers',
    measures: 'Workers that are missing to have one',
    unit: 'workers',
    scope: 'installation',
    severity: 'critical',
    threshold: 1,
    windowSeconds: 60,
  },
  redis_memory: {
    title: 'Redis is full',
    measures: 'Memory that Redis uses, of its `maxmemory`; of a cluster, its fullest primary',
    unit: 'percent',
    scope: 'installation',
    severity: 'critical',
    threshold: 80,
    windowSeconds: 300,
  },
  archive_lag: {
    title: 'Archive is late',
    measures: 'How long events that are due have waited for Postgres',
    unit: 'seconds',
    scope: 'installation',
    threshold: 900,
    windowSeconds: 60,
  },
} as const satisfies Record<string, Declared>;

export type RuleId = keyof typeof ALERT_RULES;
export type Rule = Omit<Declared, 'scope' | 'severity' | 'window'> & {
  scope: 'environment' | 'installation';
  severity: 'warning' | 'critical';
  window: 'over' | 'for';
};
export const RULE_IDS = Object.keys(ALERT_RULES) as RuleId[];

export function ruleOf(id: RuleId): Rule {
  return { scope: 'environment', severity: 'warning', window: 'for', ...ALERT_RULES[id] };
}

export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(ALERT_RULES, text);
}

const REMIND_SECONDS = 14_400;
export const THRESHOLD_MAX = 1_000_000_000;
/** Functions are counted by minute for six hours. */
export const WINDOW_MAX_SECONDS = 21_600;
export const REMIND_MAX_SECONDS = 7 * 86_400;

/** Changes that users made to a rule in an environment; absent: as declared. */
export interface RuleChoices {
  isOn?: boolean;
  threshold?: number;
  windowSeconds?: number;
  /** 0: never. */
  remindSeconds?: number;
  /** Names of the alert channels to which its alerts are sent; absent: all. */
  channels?: readonly string[];
}

export interface RuleSettings {
  isOn: boolean;
  threshold: number;
  windowSeconds: number;
  remindSeconds: number;
  channels: readonly string[] | undefined;
}

export function settingsOfRule(id: RuleId, choices: RuleChoices = {}): RuleSettings {
  const { threshold, windowSeconds, isOn = true } = ruleOf(id);
  const declared = { isOn, threshold, windowSeconds, remindSeconds: REMIND_SECONDS };
  return { ...declared, channels: undefined, ...choices };
}

export function rulesOf(isProduction: boolean): RuleId[] {
  return RULE_IDS.filter((id) => isProduction || ruleOf(id).scope === 'environment');
}
