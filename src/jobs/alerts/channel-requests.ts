/** The HTTP requests of a message, by the kind of the alert channel. */

import { standardWebhookHeaders } from '../../functions/destination-request.ts';
import type { Alert, Change } from '../../model/alerts/alert.ts';
import type { AlertChannel, ChannelKind, ChannelSecrets } from '../../model/alerts/channel.ts';
import { DEFAULT_URLS } from '../../model/alerts/channel.ts';
import type { Message } from '../../model/alerts/channel-queue.ts';
import { type RuleId, ruleOf } from '../../model/alerts/rules.ts';
import { type Line, linkTo, type MessageText, plainText, textOf } from '../../model/alerts/text.ts';
import { machineTime } from '../../model/values/clock.ts';
import { iso } from '../../model/values/time.ts';

export interface ChannelRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A message on its way to a channel. */
export interface Outbound {
  env: string;
  message: Message;
  /** A test of the channel, about no alert. */
  isTest?: boolean;
  publicUrl: string | undefined;
  secrets: ChannelSecrets;
}

type RequestsOf = (outbound: Outbound) => ChannelRequest[];

const SLACK_MAX = 35_000;
const DISCORD_MAX = 2_000;
const TEAMS_MAX = 20_000;
const PAGERDUTY_SUMMARY_MAX = 1_024;
const OPSGENIE_MESSAGE_MAX = 130;
const OPSGENIE_DESCRIPTION_MAX = 15_000;

const REQUESTS: Record<Exclude<ChannelKind, 'email'>, RequestsOf> = {
  slack: (outbound) => {
    const text = marked(wordsOf(outbound), escapeSlack, ({ url, text }) => (url ? `<${url}|${text}>` : text));
    return [post(outbound.secrets.url, { text: text.slice(0, SLACK_MAX), unfurl_links: false })];
  },
  discord: (outbound) => {
    const text = marked(wordsOf(outbound), escapeMarkdown, ({ url, text }) => (url ? `[${text}](<${url}>)` : text));
    const content = text.slice(0, DISCORD_MAX).toWellFormed();
    return [post(outbound.secrets.url, { content, allowed_mentions: { parse: [] } })];
  },
  teams: (outbound) => {
    const words = wordsOf(outbound);
    const text = marked(words, escapeMarkdown, ({ url, text }) => (url ? `[${text}](${url})` : text));
    const actions = words.url === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'All alerts', url: words.url }];
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [{ type: 'TextBlock', wrap: true, text: text.slice(0, TEAMS_MAX).toWellFormed() }],
      actions,
    };
    const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }];
    return [post(outbound.secrets.url, { type: 'message', attachments })];
  },
  pagerduty: ({ secrets, ...outbound }) => {
    const url = secrets.url ?? DEFAULT_URLS.pagerduty;
    return incidentsOf(outbound).map(({ key, isOpen, title, text, severity, page }) => {
      const common = { routing_key: secrets.key, dedup_key: key };
      if (!isOpen) return post(url, { ...common, event_action: 'resolve' });
      const payload = {
        summary: title.slice(0, PAGERDUTY_SUMMARY_MAX).toWellFormed(),
        source: 'tidegate',
        severity,
        component: outbound.env,
        custom_details: { text },
      };
      const links = page === undefined ? [] : [{ href: page, text: 'Tidegate' }];
      return post(url, { ...common, event_action: 'trigger', client: 'Tidegate', payload, links });
    });
  },
  opsgenie: ({ secrets, ...outbound }) => {
    const url = secrets.url ?? DEFAULT_URLS.opsgenie;
    const headers = { authorization: `GenieKey ${secrets.key}` };
    return incidentsOf(outbound).map(({ key, isOpen, title, text, severity, page }) => {
      if (!isOpen) {
        const close = `${url}/${encodeURIComponent(key)}/close?identifierType=alias`;
        return post(close, { source: 'Tidegate', note: text.slice(0, OPSGENIE_DESCRIPTION_MAX) }, headers);
      }
      const alert = {
        alias: key,
        message: title.slice(0, OPSGENIE_MESSAGE_MAX).toWellFormed(),
        description: text.slice(0, OPSGENIE_DESCRIPTION_MAX).toWellFormed(),
        priority: severity === 'critical' ? 'P1' : 'P3',
        source: 'Tidegate',
        ...(page !== undefined && { details: { page } }),
      };
      return post(url, alert, headers);
    });
  },
  webhook: ({ env, message, isTest, publicUrl, secrets }) => {
    const { id, at, omitted } = message;
    const changes = message.changes.map((change) => ({
      change: change.kind,
      at: iso(change.at),
      alert: alertData(change.alert, env, publicUrl),
    }));
    const data = { environment: env, changes, omitted };
    const type = isTest ? 'alerts.test' : 'alerts.changed';
    const body = JSON.stringify({ type, timestamp: iso(at), data });
    const signed = standardWebhookHeaders(id, body, secrets.signing ? [secrets.signing] : [], machineTime());
    return [{ url: secrets.url ?? '', headers: { 'content-type': 'application/json', ...signed }, body }];
  },
};

export function channelRequests({ kind }: Pick<AlertChannel, 'kind'>, outbound: Outbound): ChannelRequest[] {
  return kind === 'email' ? [] : REQUESTS[kind](outbound);
}

export function wordsOf({ message, env, publicUrl, isTest }: Omit<Outbound, 'secrets'>): MessageText {
  if (!isTest) return textOf(message, env, publicUrl);
  const text = 'If you can read this, alerts of this environment reach you here.';
  return { title: `Test of alerts in ${env}`, lines: [], more: text, url: linkTo('/alerts', env, publicUrl) };
}

/** An alert as events and webhooks show it. */
export function alertData(alert: Alert, env: string, publicUrl: string | undefined) {
  const { id, rule, subject, name, detail, value, threshold, since, openedAt, resolvedAt, path } = alert;
  const { title, unit, severity } = ruleOf(rule);
  return {
    alert_id: id,
    rule,
    title,
    severity,
    environment: env,
    subject,
    subject_name: name,
    detail,
    value,
    threshold,
    unit,
    since: iso(since),
    opened_at: iso(openedAt ?? since),
    resolved_at: resolvedAt === undefined ? null : iso(resolvedAt),
    url: linkTo(path, env, publicUrl) ?? null,
  };
}

interface Incident {
  key: string;
  isOpen: boolean;
  title: string;
  text: string;
  severity: 'warning' | 'critical' | 'info';
  page: string | undefined;
}

/** On-call services have one incident for each rule of an environment: it is open while any alert of the rule is. A
 *  repeated request changes nothing. */
function incidentsOf(outbound: Omit<Outbound, 'secrets'>): Incident[] {
  const { env, message, publicUrl, isTest } = outbound;
  const words = wordsOf(outbound);
  if (isTest) {
    const test = { key: `tidegate/${env}/test`, title: words.title, text: plainText(words), page: words.url };
    return [
      { ...test, isOpen: true, severity: 'info' },
      { ...test, isOpen: false, severity: 'info' },
    ];
  }
  return (Object.keys(message.open) as RuleId[]).map((rule) => {
    const changes = message.changes.filter(({ alert }) => alert.rule === rule);
    const counts = message.omitted[rule];
    const own: Message = { ...message, changes, omitted: counts ? { [rule]: counts } : {} };
    const { lines, more } = textOf(own, env, publicUrl);
    const open = message.open[rule] ?? 0;
    const title = `${ruleOf(rule).title} (${env}): ${open === 1 ? namesOf(changes) : `${open} open`}`;
    const text = plainText({ title, lines, more, url: undefined });
    const page = lines.length === 1 ? lines[0]?.url : words.url;
    return { key: `tidegate/${env}/${rule}`, isOpen: open > 0, title, text, severity: ruleOf(rule).severity, page };
  });
}

function namesOf(changes: readonly Change[]): string {
  const opened = changes.filter(({ kind }) => kind !== 'resolved').map(({ alert }) => alert.name || alert.detail);
  return opened.length === 0 ? '1 open' : opened.join(', ');
}

function marked(words: MessageText, plain: (text: string) => string, link: (linked: Line) => string): string {
  const lines = words.lines.map(({ word, text, url }) => `${plain(word)}: ${link({ word, text: plain(text), url })}`);
  const more = words.more === undefined ? [] : [plain(words.more)];
  const all = words.url === undefined ? [] : [link({ word: '', text: 'All alerts', url: words.url })];
  return [`*${plain(words.title)}*`, ...lines, ...more, ...all].join('\n\n');
}

/** https://api.slack.com/reference/surfaces/formatting#escaping. A pipe would end the text of a link. */
function escapeSlack(text: string): string {
  return text
    .replace(/[&<>]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[char] ?? char)
    .replaceAll('|', '¦');
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+\-.!|~@]/g, (char) => `\\${char}`);
}

function post(url: string | undefined, body: object, headers: Record<string, string> = {}): ChannelRequest {
  return { url: url ?? '', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
