/** `tidegate webhooks requests`: the request log of a webhook. */
import type { Command } from 'commander';
import type { Json } from './api-client.ts';
import type { Context } from './context.ts';
import { idOfWebhook } from './find-webhook.ts';
import { at, type ListOptions, type TimeOptions, withLimit, withTimes } from './list-options.ts';
import type { Output } from './output.ts';

export function registerRequests(webhooks: Command, context: Context): void {
  const requests = webhooks.command('requests').description('The request log of a webhook.');
  withLimit(withTimes(requests.command('list').alias('ls').description('Lists requests, newest first.'), 'received'))
    .argument('<webhook>', 'its ID or name')
    .option('--outcome <outcomes>', 'accepted, ignored, filtered, held, handshake, rejected, or several: held,rejected')
    .action(async (webhook: string, options: ListOptions & TimeOptions & { outcome?: string }) => {
      const { limit, since, until, outcome } = options;
      const query = { outcome, received_after: since, received_before: until };
      const api = context.api();
      const id = await idOfWebhook(api, webhook);
      const found = await api.list(at`/v1/webhooks/${id}/requests`, query, limit);
      const output = context.output();
      output.result(found, () => printRequests(output, found));
    });
  requests
    .command('get')
    .description('Shows a request with its headers and body; secrets are masked.')
    .argument('<webhook>', 'its ID or name')
    .argument('<request>', 'its ID')
    .action(async (webhook: string, request: string) => {
      const api = context.api();
      const id = await idOfWebhook(api, webhook);
      const { data } = await api.get(at`/v1/webhooks/${id}/requests/${request}`);
      const output = context.output();
      const { body, ...rest } = data;
      output.result(data, () => output.fields({ ...rest, body: body?.content }));
    });
  requests
    .command('rerun')
    .description('Processes a request again, as if it was received now.')
    .argument('<webhook>', 'its ID or name')
    .argument('<request>', 'its ID')
    .option('--dry-run', 'show what it makes, and change nothing')
    .action(async (webhook: string, request: string, { dryRun = false }: { dryRun?: boolean }) => {
      const api = context.api();
      const id = await idOfWebhook(api, webhook);
      const { data } = await api.post(at`/v1/webhooks/${id}/requests/${request}/rerun`, { dry_run: dryRun });
      const output = context.output();
      output.result(data, () => {
        const { outcome, reason, events, ids } = data;
        output.fields({ outcome, reason, events: dryRun ? events : undefined, 'event ID': ids.join(', ') });
      });
    });
}

function printRequests(output: Output, requests: Json[]): void {
  const rows = requests.map((one) => [
    one.id,
    one.received_at,
    one.outcome,
    one.status,
    one.event_name,
    one.reason,
    one.message,
  ]);
  output.table(['ID', 'RECEIVED', 'OUTCOME', 'STATUS', 'EVENT', 'REASON', 'MESSAGE'], rows, 'No requests.');
}
