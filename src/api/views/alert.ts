/** The API's representation of alerts and their rules. */
import { z } from 'zod';
import type { Alert } from '../../model/alerts/alert.ts';
import { isOpen } from '../../model/alerts/alert.ts';
import {
  REMIND_MAX_SECONDS,
  RULE_IDS,
  RULE_UNITS,
  type RuleChoices,
  type RuleId,
  ruleOf,
  settingsOfRule,
  THRESHOLD_MAX,
  WINDOW_MAX_SECONDS,
} from '../../model/alerts/rules.ts';
import { apiObject, time, timeOrNull, wholeBetween } from '../http/validation.ts';

const severity = z.enum(['warning', 'critical']);

export const alertSchema = apiObject('Alert', {
  id: z.string(),
  rule: z.enum(RULE_IDS),
  title: z.string(),
  severity,
  state: z.enum(['open', 'resolved']),
  subject: z
    .string()
    .describe(
      'What it is about: ID of a function, a webhook issue or an error, name of a queue; empty: the environment',
    ),
  subject_name: z.string(),
  detail: z.string(),
  value: z.number(),
  threshold: z.number(),
  unit: z.enum(RULE_UNITS),
  since: z.iso.datetime().describe('Since when the value reached the threshold'),
  opened_at: z.iso.datetime(),
  resolved_at: timeOrNull,
  path: z.string().describe('Page of the dashboard that shows what is behind it'),
});

export function presentAlert(alert: Alert) {
  const { id, rule, subject, name, detail, value, threshold, since, openedAt, resolvedAt, path } = alert;
  const { title, unit, severity } = ruleOf(rule);
  return {
    ...{ id, rule, title, severity, subject, subject_name: name, detail, value, threshold, unit, path },
    state: isOpen(alert) && resolvedAt === undefined ? ('open' as const) : ('resolved' as const),
    since: time(since) as string,
    opened_at: time(openedAt ?? since) as string,
    resolved_at: time(resolvedAt),
  };
}

/** null resets the field to its declared value; an omitted field stays unchanged. */
export const ruleInput = {
  on: z.boolean().nullish(),
  threshold: z.number().min(0).max(THRESHOLD_MAX).nullish().describe('The alert opens when the value reaches it'),
  window_seconds: wholeBetween(0, WINDOW_MAX_SECONDS).nullish(),
  remind_seconds: wholeBetween(0, REMIND_MAX_SECONDS)
    .nullish()
    .describe('An alert that is open is repeated this often; 0: never'),
  channels: z.array(z.string().max(64)).max(20).nullish().describe('Names of alert channels that hear; null: all'),
};

const ruleInputSchema = z.object(ruleInput);
export type RuleInput = z.output<typeof ruleInputSchema>;

export const alertRuleSchema = apiObject('AlertRule', {
  rule: z.enum(RULE_IDS),
  title: z.string(),
  measures: z.string().describe('What the value is'),
  unit: z.enum(RULE_UNITS),
  severity,
  scope: z.enum(['environment', 'installation']).describe('Rules of the installation belong to production'),
  on: z.boolean(),
  threshold: z.number(),
  window_seconds: z.int(),
  window: z
    .enum(['over', 'for'])
    .describe('over: the value is that of the window; for: the value must have reached the threshold for so long'),
  remind_seconds: z.int(),
  channels: z.array(z.string()).nullable().describe('null: all'),
  changed: z.array(z.enum(['on', 'threshold', 'window_seconds', 'remind_seconds', 'channels'])),
});

const FIELDS = {
  on: 'isOn',
  threshold: 'threshold',
  window_seconds: 'windowSeconds',
  remind_seconds: 'remindSeconds',
  channels: 'channels',
} as const satisfies Record<keyof RuleInput, keyof RuleChoices>;

const NAMES = Object.keys(FIELDS) as (keyof RuleInput)[];

export function presentRule(rule: RuleId, choices: RuleChoices = {}) {
  const { title, measures, unit, severity, scope, window } = ruleOf(rule);
  const { isOn, threshold, windowSeconds, remindSeconds, channels } = settingsOfRule(rule, choices);
  return {
    ...{ rule, title, measures, unit, severity, scope, on: isOn, threshold, window_seconds: windowSeconds, window },
    remind_seconds: remindSeconds,
    channels: channels === undefined ? null : [...channels],
    changed: NAMES.filter((name) => choices[FIELDS[name]] !== undefined),
  };
}

export function withRuleInput(choices: RuleChoices, input: RuleInput): RuleChoices {
  const changed: Record<string, unknown> = { ...choices };
  for (const name of NAMES) {
    if (input[name] === undefined) continue;
    if (input[name] === null) delete changed[FIELDS[name]];
    else changed[FIELDS[name]] = input[name];
  }
  return changed as RuleChoices;
}
