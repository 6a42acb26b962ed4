/** `tidegate webhooks reconcile`, `completeness`: what of a provider came, and what is missing. */
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ApiClient, Json } from './api-client.ts';
import type { Context } from './context.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { idOfWebhook } from './find-webhook.ts';
import { pointInTime } from './input.ts';
import { at } from './list-options.ts';
import type { Output } from './output.ts';

const POLL_MS = 1_000;
const SINCE = [
  '--since <time>',
  'ISO 8601, a time of today such as 09:00, or how long ago: 2h, 7d',
  pointInTime,
] as const;

export function registerCompleteness(webhooks: Command, context: Context): void {
  webhooks
    .command('reconcile')
    .description(
      'Compares what came with what the provider sent, and recovers what is missing. Exits with 1 if something stays missing.',
    )
    .argument('<webhook>', 'its ID or name')
    .option(...SINCE)
    .option('--redeliver', 'ask the provider to send what is missing again, instead of fetching it')
    .action(async (webhook: string, { since, redeliver }: { since?: string; redeliver?: boolean }) => {
      const api = context.api();
      const id = await idOfWebhook(api, webhook);
      const body = { ...(since !== undefined && { since }), ...(redeliver && { redeliver }) };
      const { data: before } = await api.post(at`/v1/webhooks/${id}/reconcile`, body);
      let data: Json = before;
      // A new problem ends the wait: its next try may be in an hour.
      while (data.is_running && data.problem?.at === before.problem?.at) {
        await setTimeout(POLL_MS);
        data = await read(api, id, since);
      }
      print(context.output(), data);
      if (data.missing > 0 || data.problem) throw new CliError('Not complete', { exitCode: EXIT.failed });
    });
  webhooks
    .command('completeness')
    .description('Shows what of a provider came, was recovered and is missing.')
    .argument('<webhook>', 'its ID or name')
    .option(...SINCE)
    .action(async (webhook: string, { since }: { since?: string }) => {
      const api = context.api();
      print(context.output(), await read(api, await idOfWebhook(api, webhook), since));
    });
}

async function read(api: ApiClient, id: string, since: string | undefined): Promise<Json> {
  return (await api.get(at`/v1/webhooks/${id}/completeness`, { since })).data;
}

function print(output: Output, completeness: Json): void {
  const { since, complete_since, sent, received, recovered, missing, missing_requests, problem } = completeness;
  output.result(completeness, () => {
    const isComplete = missing === 0 && since !== null;
    output.line(
      since === null
        ? 'Nothing is compared yet.'
        : `${isComplete ? 'Complete' : 'Not complete'} since ${since}: ${sent} sent, ${received} came, ${recovered} recovered, ${missing} missing`,
    );
    if (!isComplete && complete_since) output.line(`Complete since ${complete_since}.`);
    if (missing > 0) {
      output.table(
        ['ID', 'SENT', 'REASON', 'MESSAGE'],
        missing_requests.map((one: Json) => [one.id, one.sent_at, one.reason ?? 'not tried yet', one.message]),
      );
    }
    if (problem) output.line(`${problem.at} ${problem.reason}: ${problem.message}`);
  });
}
