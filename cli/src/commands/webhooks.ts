/** `tidegate webhooks`: URLs for providers, their transforms and their requests. */
import type { Command } from 'commander';
import type { Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { idOfWebhook } from '../find-webhook.ts';
import { at } from '../list-options.ts';
import type { Output } from '../output.ts';
import { addAction, addList } from '../resource.ts';
import { maskedUrl } from '../secrets.ts';
import { registerCompleteness } from '../webhook-completeness.ts';
import { bodyOf, type WebhookOptions, withWebhookOptions } from '../webhook-options.ts';
import { registerRequests } from '../webhook-requests.ts';

export function register(program: Command, context: Context): void {
  const webhooks = program
    .command('webhooks')
    .summary('list, create, change, pause and delete webhooks; their requests')
    .description(
      'Webhooks and their requests. Their URLs are secrets: only `create`, `rotate` and `get --show-url` print them.',
    );
  addList(webhooks, context, {
    description: 'Lists webhooks.',
    path: '/v1/webhooks',
    headings: ['ID', 'NAME', 'ENVIRONMENT', 'PROVIDER', 'STATE'],
    row: (one) => [one.id, one.name, one.environment, one.provider, stateOf(one)],
    shown: withoutUrls,
  });
  webhooks
    .command('get')
    .description('Shows a webhook with its transform.')
    .argument('<webhook>', 'its ID or name')
    .option('--show-url', 'the whole URL')
    .action(async (webhook: string, { showUrl }: { showUrl?: boolean }) => {
      const api = context.api();
      const { data } = await api.get(at`/v1/webhooks/${await idOfWebhook(api, webhook)}`);
      printWebhook(context.output(), showUrl ? data : withoutUrls(data));
    });
  registerChanges(webhooks, context);
  registerRequests(webhooks, context);
  registerCompleteness(webhooks, context);
}

function registerChanges(webhooks: Command, context: Context): void {
  withWebhookOptions(webhooks.command('create'))
    .description('Creates a webhook in the environment of --env, and prints its URL once.')
    .argument('<name>')
    .action(async (name: string, options: WebhookOptions) => {
      const { environment } = context.settings();
      const body = { name, ...(environment && { environment }), ...(await bodyOf(options, context.stdin)) };
      const { data } = await context.api().post('/v1/webhooks', body);
      printUrl(context.output(), data);
    });
  withWebhookOptions(webhooks.command('update'))
    .description('Changes a webhook. What is not given stays as it is.')
    .argument('<webhook>', 'its ID or name')
    .option('--name <name>', 'its name')
    .action(async (webhook: string, { name, ...options }: WebhookOptions & { name?: string }) => {
      const api = context.api();
      const id = await idOfWebhook(api, webhook);
      const body = { ...(name !== undefined && { name }), ...(await bodyOf(options, context.stdin)) };
      const { data } = await api.patch(at`/v1/webhooks/${id}`, body);
      printWebhook(context.output(), withoutUrls(data));
    });
  for (const [name, description, done] of [
    ['pause', 'Pauses a webhook: requests are rejected with 503, and providers try again later.', 'Paused'],
    ['resume', 'Resumes a paused webhook.', 'Resumed'],
  ] as const) {
    webhooks
      .command(name)
      .description(description)
      .argument('<webhook>', 'its ID or name')
      .action(async (webhook: string) => {
        const api = context.api();
        const { data } = await api.post(at`/v1/webhooks/${await idOfWebhook(api, webhook)}/` + name);
        const output = context.output();
        output.result(withoutUrls(data), () => output.line(`${done} ${webhook}.`));
      });
  }
  webhooks
    .command('rotate')
    .description('Gives a webhook a new URL, and prints it once. The former one is valid for a while.')
    .argument('<webhook>', 'its ID or name')
    .action(async (webhook: string) => {
      const api = context.api();
      const { data } = await api.post(at`/v1/webhooks/${await idOfWebhook(api, webhook)}/rotate`, {});
      printUrl(context.output(), data);
    });
  addAction(webhooks, context, {
    name: 'delete',
    description: 'Deletes a webhook with its request log. Its events stay.',
    argument: ['webhook', 'its ID or name'],
    idOf: idOfWebhook,
    method: 'DELETE',
    path: (id) => at`/v1/webhooks/${id}`,
    question: (id) => `Delete the webhook ${id} and its request log, so that its URL is rejected?`,
    done: (id) => `Deleted ${id}.`,
  });
}

function printUrl(output: Output, webhook: Json): void {
  const { former_urls: _, ...shown } = webhook;
  output.result(shown, () => {
    output.note(`The webhook ${webhook.name} (${webhook.id}). Keep its URL secret: it authenticates the sender.`);
    output.line(webhook.url);
  });
}

function printWebhook(output: Output, webhook: Json): void {
  const { id, name, environment, url, provider, secrets, filter, methods, version, transform } = webhook;
  const verified =
    provider === null ? 'no' : webhook.verify ? `yes, with ${secrets.length} secrets` : 'no: switched off';
  output.result(webhook, () => {
    output.fields({
      ID: id,
      name,
      environment,
      URL: url,
      provider,
      verified,
      filter,
      methods: methods.join(', '),
      version,
    });
    output.fields({
      state: stateOf(webhook),
      'event names': webhook.event_names,
      'IP addresses': webhook.ip_addresses,
    });
    output.fields({ transform });
  });
}

function stateOf({ paused_at }: Json): string {
  return paused_at ? `paused ${paused_at}` : '';
}

function withoutUrls(webhook: Json): Json {
  const former = webhook.former_urls.map((one: Json) => ({ ...one, url: maskedUrl(one.url) }));
  return { ...webhook, url: maskedUrl(webhook.url), former_urls: former };
}
