/** `tidegate listen`: forwards the requests of webhooks to a server on this machine. */
import { type Command, InvalidArgumentError } from 'commander';
import { ApiClient, type Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { findWebhook } from '../find-webhook.ts';
import { pointInTime } from '../input.ts';
import { followRequests } from '../listen/follow-requests.ts';
import { type Forwarded, forward } from '../listen/forward.ts';
import { type Output, printable } from '../output.ts';

interface ListenOptions {
  to: URL;
  since?: string;
  header: [string, string][];
  all?: boolean;
}

export function register(program: Command, context: Context): void {
  program
    .command('listen')
    .summary('forward webhooks to this machine')
    .description(
      'Forwards the requests of webhooks to a server on this machine as they came: method, query string, headers with their\n' +
        'signatures, body. Goes on until Ctrl-C, and forwards later what came while the connection was away.\n' +
        'Needs an API key with write access that is not bound to an environment.',
    )
    .argument('<webhook...>', 'IDs or names of webhooks')
    .requiredOption('--to <url>', 'where to forward to: http://localhost:3000/webhooks/stripe', httpUrl)
    .option('--since <time>', 'begin with the requests since: ISO 8601, or how long ago: 15m, 2h', pointInTime)
    .option(
      '-H, --header <name:value>',
      'set a header, such as a token that the service does not show; several are possible',
      collectHeader,
      [],
    )
    .option('--all', 'also requests that failed verification, and re-runs')
    .action(async (names: string[], { to, since, header, all = false }: ListenOptions) => {
      // Ends the connection for live updates when the command fails.
      const ended = new AbortController();
      const signal = AbortSignal.any([context.signal, ended.signal]);
      const api = new ApiClient(context.settings(), signal);
      const output = context.output();
      const webhooks = await Promise.all(names.map((name) => findWebhook(api, name)));
      const nameOf = new Map(webhooks.map(({ id, name }) => [id as string, name as string]));
      // Time of the service's clock.
      const now: string = (await api.get('/v1/webhooks', { limit: 1 })).metadata.fetched_at;
      const sinceMs = Date.parse(since ?? now);
      for (const name of nameOf.values()) output.note(`${printable(name)} → ${to.href}`);
      const note = (text: string) => output.note(output.paint('gray', printable(text)));
      const target = { to, headers: header, signal };
      const following = { api, webhookIds: [...nameOf.keys()], sinceMs, all, note, signal };
      await followRequests(following, async (webhookId, id) => {
        const request = await original(api, webhookId, id);
        if (request) print(output, nameOf.get(webhookId) as string, request, await forward(request, target));
      }).finally(() => ended.abort());
      context.exitCode = EXIT.interrupted;
    });
}

/** undefined: it has left the log. */
async function original(api: ApiClient, webhookId: string, id: string): Promise<Json | undefined> {
  try {
    return (await api.get(`/v1/webhooks/${webhookId}/requests/${encodeURIComponent(id)}/original`)).data;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  }
}

function print(output: Output, webhook: string, request: Json, answer: Forwarded): void {
  const { id, method, received_at, outcome, withheld } = request;
  const shown = { webhook, request_id: id, received_at, method, outcome, ...answer, withheld };
  output.item(shown, () => {
    const time = new Date(received_at).toLocaleTimeString('en-GB');
    const isFine = answer.status !== null && answer.status < 400;
    const result =
      answer.status === null ? printable(answer.error ?? '') : `${answer.status} in ${answer.duration_ms} ms`;
    const masked = withheld.length > 0 ? `  (not sent: ${withheld.join(', ')}; set them with --header)` : '';
    const said = isFine || !answer.body ? '' : `  ${printable(answer.body).replaceAll(/\s+/g, ' ').slice(0, 200)}`;
    const line = `${time}  ${printable(webhook)}  ${method} ${id}  ${outcome}  → ${result}`;
    output.line(`${isFine ? line : output.paint('red', line)}${printable(masked)}${said}`);
  });
}

function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new InvalidArgumentError('Expected an address such as http://localhost:3000/webhooks.');
}

function collectHeader(text: string, before: [string, string][]): [string, string][] {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw usageError(`Expected a header as name:value, got ${JSON.stringify(text)}`);
  return [...before, [name.toLowerCase(), value]];
}
