/** `tidegate what-if --webhooks`: what filters and transforms of the configuration in git would make of logged requests. Each webhook whose filter or
 *  transform differs has a dry run of a replay, with the configuration's as drafts. */
import type { ApiClient, Json } from '../api-client.ts';
import { describeEntry, type Entry, identityOf } from '../config/document.ts';
import { readDocument } from '../config/files.ts';
import { readInstallation } from '../config/installation.ts';
import { CliError } from '../exit-codes.ts';
import { at } from '../list-options.ts';
import type { Output } from '../output.ts';
import { code } from './report.ts';

/** Result of a request in a dry run, in the words of the report. */
const CHANGES: Readonly<Record<string, string>> = {
  new_event: 'now make an event',
  no_event: 'no longer make an event',
  changed: 'make another event',
  error: 'are rejected',
};

export interface WebhooksWhatIf {
  checked: number;
  unchanged: number;
  changed: number;
  /** Requests that are rejected, and webhooks whose filter or transform cannot be used. */
  broken: number;
  webhooks: WebhookWhatIf[];
  /** Webhooks that the service does not have, or that have the same filter and transform. */
  not_compared: { webhook: string; because: 'not_there' | 'same' }[];
}

interface WebhookWhatIf {
  id: string;
  webhook: string;
  /** Number of sampled requests by change. */
  changes: Record<string, number>;
  /** All requests of the time. */
  total: number;
  total_is_exact: boolean;
  /** One request for each change. */
  examples: Json[];
  /** Why the draft cannot be used. */
  problem: string | null;
}

/** @param from ISO time; undefined: the newest requests */
export async function whatIfOfWebhooks(
  file: string,
  from: string | undefined,
  api: ApiClient,
): Promise<WebhooksWhatIf> {
  const [document, { webhooks: present }] = await Promise.all([
    readDocument(file),
    readInstallation(api, ['webhooks']),
  ]);
  const compared: WebhookWhatIf[] = [];
  const rest: WebhooksWhatIf['not_compared'] = [];
  for (const entry of document.webhooks ?? []) {
    const webhook = describeEntry(entry);
    const before = present.get(identityOf(entry));
    const drafts = before && draftsOf(before.entry, entry);
    if (!before || !drafts) rest.push({ webhook, because: before ? 'same' : 'not_there' });
    else compared.push({ id: before.id, webhook, ...(await dryRun(before.id, { ...drafts, from }, api)) });
  }
  const count = (...changes: string[]) =>
    compared.reduce((sum, one) => sum + changes.reduce((own, change) => own + (one.changes[change] ?? 0), 0), 0);
  const [unchanged, changed] = [count('same'), count('changed', 'new_event', 'no_event')];
  const broken = count('error') + compared.filter(({ problem }) => problem !== null).length;
  return {
    checked: unchanged + changed + count('error'),
    unchanged,
    changed,
    broken,
    webhooks: compared,
    not_compared: rest,
  };
}

/** undefined: they are the same. A transform that the file does not have stays as it is. */
function draftsOf(before: Entry, after: Entry): { draft?: string; draft_filter?: string | null } | undefined {
  const isOtherFilter = (before.filter ?? null) !== (after.filter ?? null);
  const isOtherTransform = after.transform !== undefined && after.transform !== before.transform;
  if (!isOtherFilter && !isOtherTransform) return undefined;
  return {
    ...(isOtherTransform && { draft: after.transform }),
    ...(isOtherFilter && { draft_filter: after.filter ?? null }),
  };
}

async function dryRun(id: string, body: object, api: ApiClient): Promise<Omit<WebhookWhatIf, 'id' | 'webhook'>> {
  try {
    const { dry_run: found } = (await api.post(at`/v1/webhooks/${id}/replays`, { ...body, dry_run: true })).data;
    const { sample, total, total_is_exact } = found;
    const changes: Record<string, number> = {};
    const examples: Json[] = [];
    for (const result of sample as Json[]) {
      const change = String(result.change);
      changes[change] = (changes[change] ?? 0) + 1;
      if (changes[change] === 1 && change !== 'same') examples.push(result);
    }
    return {
      changes,
      examples,
      ...{ total, total_is_exact, problem: null },
    };
  } catch (error) {
    const isOfDraft =
      error instanceof CliError && ['transform_invalid', 'input_invalid'].includes(String(error.answer?.code));
    if (!isOfDraft) throw error;
    return { changes: {}, examples: [], total: 0, total_is_exact: true, problem: error.message };
  }
}

export function printWebhooks(output: Output, found: WebhooksWhatIf): void {
  for (const text of linesOf(found, JSON.stringify)) output.line(text);
  output.line(`${summaryOfWebhooks(found)}.`);
}

export function markdownOfWebhooks(found: WebhooksWhatIf): string {
  const lines = linesOf(found, code).map((text) => text.replace(/^( *)/, '$1- '));
  return ['## What-if: webhooks', '', `**${summaryOfWebhooks(found)}.**`, '', ...lines].join('\n').trimEnd();
}

function summaryOfWebhooks({ checked, unchanged, changed, broken, webhooks }: WebhooksWhatIf): string {
  const counts = `${unchanged} unchanged, ${changed} changed, ${broken} broken`;
  return `${checked} requests of ${webhooks.length} webhooks whose filter or transform differs: ${counts}`;
}

type Quote = (text: string) => string;

function linesOf({ webhooks, not_compared: rest }: WebhooksWhatIf, quote: Quote): string[] {
  const there = webhooks.flatMap(({ webhook, changes, examples, total, total_is_exact: isExact, problem }) => {
    if (problem !== null) return [`${quote(webhook)}: cannot be used: ${problem}`];
    const sampled = Object.values(changes).reduce((sum, count) => sum + count, 0);
    const all = `${isExact ? '' : 'at least '}${total}`;
    return [
      `${quote(webhook)}: ${changes.same ?? 0} of the newest ${sampled} requests as before (${all} in all)`,
      ...examples.flatMap((example) => [
        `  ${changes[example.change]} ${CHANGES[example.change] ?? example.change}, such as ${example.request_id}`,
        `    now: ${madeText(example.before, quote)}`,
        `    then: ${madeText(example.after, quote)}`,
      ]),
    ];
  });
  const missing = rest.filter(({ because }) => because === 'not_there');
  return [...there, ...missing.map(({ webhook }) => `${quote(webhook)}: not compared: the service does not have it`)];
}

function madeText({ outcome, events, event_count: count, reason, message }: Json, quote: Quote): string {
  const [event] = events;
  if (event) return `${quote(JSON.stringify(event))}${count > 1 ? ` and ${count - 1} more` : ''}`;
  return [outcome, reason, message && quote(message)].filter(Boolean).join(', ');
}
