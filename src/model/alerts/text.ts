/** Texts of alerts, the same in every alert channel. */
import { iso } from '../values/time.ts';
import type { Alert, Change } from './alert.ts';
import type { Message } from './channel-queue.ts';
import { type RuleId, ruleOf } from './rules.ts';

const WORDS = { opened: 'Opened', reminded: 'Still open', resolved: 'Resolved' } as const;

export interface Line {
  word: string;
  /** What, how much, since when. */
  text: string;
  /** undefined without PUBLIC_URL. */
  url: string | undefined;
}

export interface MessageText {
  title: string;
  lines: Line[];
  /** The text about the changes that are not named. */
  more: string | undefined;
  /** The page Alerts. */
  url: string | undefined;
}

export function textOf(message: Message, env: string, publicUrl: string | undefined): MessageText {
  const { changes, omitted } = message;
  const lines = changes.map((change) => lineOf(change, env, publicUrl));
  const more = Object.entries(omitted).flatMap(([rule, counts]) =>
    Object.entries(counts).flatMap(([kind, count]) =>
      count === 0 ? [] : [`${WORDS[kind as Change['kind']].toLowerCase()}: ${count} × ${ruleOf(rule as RuleId).title}`],
    ),
  );
  return {
    title: titleOf(message, env),
    lines,
    more: more.length === 0 ? undefined : `And ${more.join(', ')}`,
    url: linkTo('/alerts', env, publicUrl),
  };
}

/** The text without marks. */
export function plainText({ title, lines, more, url }: MessageText): string {
  const shown = lines.map((line) => `${line.word}: ${line.text}${line.url === undefined ? '' : `\n${line.url}`}`);
  const all = url === undefined ? [] : [`All alerts: ${url}`];
  return [title, ...shown, ...(more === undefined ? [] : [more]), ...all].join('\n\n');
}

function titleOf({ changes, omitted }: Message, env: string): string {
  const [only] = changes;
  if (only && changes.length === 1 && Object.keys(omitted).length === 0) {
    return `${WORDS[only.kind]} in ${env}: ${headlineOf(only.alert)}`;
  }
  const parts = (Object.keys(WORDS) as Change['kind'][]).flatMap((kind) => {
    const more = Object.values(omitted).reduce((sum, counts) => sum + counts[kind], 0);
    const count = changes.filter((change) => change.kind === kind).length + more;
    return count === 0 ? [] : [`${count} ${WORDS[kind].toLowerCase()}`];
  });
  return `Alerts in ${env}: ${parts.join(', ')}`;
}

/** `Function fails: send-receipt`. */
export function headlineOf({ rule, name }: Pick<Alert, 'rule' | 'name'>): string {
  const { title } = ruleOf(rule);
  return name === '' ? title : `${title}: ${name}`;
}

function lineOf({ kind, alert }: Change, env: string, publicUrl: string | undefined): Line {
  const { detail, openedAt, resolvedAt } = alert;
  const until = resolvedAt === undefined ? '' : `, until ${minute(resolvedAt)}`;
  const since = openedAt === undefined ? '' : `; since ${minute(alert.since)}${until}`;
  const text = `${headlineOf(alert)}: ${detail}${since}`;
  return { word: WORDS[kind], text, url: linkTo(alert.path, env, publicUrl) };
}

export function linkTo(path: string, env: string, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined;
  const url = new URL(publicUrl + path);
  url.searchParams.set('env', env);
  return url.href;
}

/** `2026-11-29 07:12 UTC`. */
function minute(ms: number): string {
  return `${iso(ms).slice(0, 16).replace('T', ' ')} UTC`;
}
