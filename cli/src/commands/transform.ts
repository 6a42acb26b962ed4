/** `tidegate transform test`: tries the code of a transform on requests, without saving it. */
import type { Command } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { readFileOf, wholeNumber } from '../input.ts';
import { type Output, printable } from '../output.ts';
import { FileChanges } from '../transforms/file-changes.ts';
import { type Sample, sampleOfFile, samplesOfWebhook } from '../transforms/samples.ts';

/** Errors that the code itself causes. */
const OF_THE_CODE = ['transform_invalid', 'transform_failed', 'filter_failed'];
const LAST_MAX = 50;

interface TestOptions {
  request?: string;
  webhook?: string;
  requestId?: string[];
  last: number;
  filter?: string;
  watch?: boolean;
}

interface Tried {
  request: string;
  ok: boolean;
  result: Json;
}

export function register(program: Command, context: Context): void {
  const transform = program
    .command('transform')
    .summary('try the transform of a webhook')
    .description('Transforms of webhooks.');
  transform
    .command('test')
    .description(
      'Runs the transform of a file on requests, as a webhook does, and saves and ingests nothing.\n' +
        'Exits with 1 if it fails on one of them. Needs an API key with write access that is not bound to an environment.',
    )
    .argument('<file>', 'JavaScript file with the function transform(evt, headers, queryParams, raw)')
    .option('--request <file>', 'JSON file with body, headers and query; any other file is the body')
    .option('--webhook <webhook>', 'ID or name of a webhook: its newest request')
    .option('--request-id <ids...>', 'these requests of the webhook')
    .option('--last <count>', 'so many of its newest requests', wholeNumber(1, LAST_MAX), 1)
    .option('--filter <cel>', 'only for requests that meet this expression')
    .option('--watch', 'again whenever the file changes, until Ctrl-C')
    .action(async (file: string, options: TestOptions) => {
      const api = context.api();
      const output = context.output();
      const samples = await samplesOf(api, options);
      const tryFile = () => tryAll(api, output, file, samples, options.filter);
      // First: the file may change while it is tried.
      const changes = options.watch ? new FileChanges(file, context.signal) : undefined;
      const isFine = await tryFile();
      context.exitCode = isFine ? EXIT.ok : EXIT.failed;
      while (await changes?.next()) {
        output.note(`\n${new Date().toLocaleTimeString('en-GB')}  ${file}`);
        await tryFile().catch((error) => {
          if (!(error instanceof CliError)) throw error;
          output.note(printable(error.message));
        });
      }
      if (changes) context.exitCode = EXIT.interrupted;
    });
}

async function samplesOf(api: ApiClient, { request, webhook, requestId = [], last }: TestOptions): Promise<Sample[]> {
  if (request !== undefined && webhook !== undefined) throw usageError('Give --request or --webhook, not both');
  if (webhook !== undefined) return samplesOfWebhook(api, webhook, requestId, last);
  if (requestId.length > 0) throw usageError('--request-id needs --webhook');
  return [
    request === undefined
      ? { name: 'an empty request', body: {}, headers: {}, query: {} }
      : await sampleOfFile(request),
  ];
}

/** @returns whether the transform succeeded on all samples */
async function tryAll(
  api: ApiClient,
  output: Output,
  file: string,
  samples: Sample[],
  filter?: string,
): Promise<boolean> {
  const code = await readFileOf(file);
  const tried: Tried[] = [];
  for (const sample of samples) tried.push(await tryOne(api, code, sample, filter));
  output.result(samples.length === 1 ? tried[0] : tried, () => {
    for (const one of tried) print(output, file, one);
  });
  return tried.every(({ ok }) => ok);
}

async function tryOne(api: ApiClient, transform: string, { name, ...sample }: Sample, filter?: string): Promise<Tried> {
  try {
    const { data } = await api.post('/v1/transforms/test', {
      transform,
      ...sample,
      ...(filter !== undefined && { filter }),
    });
    return { request: name, ok: true, result: data };
  } catch (error) {
    if (!(error instanceof CliError) || !OF_THE_CODE.includes(String(error.answer?.code))) throw error;
    return { request: name, ok: false, result: { ...error.answer, error: error.message } };
  }
}

function print(output: Output, file: string, { request, ok, result }: Tried): void {
  const position = result.line === undefined ? '' : ` at ${file}:${result.line}:${result.column}`;
  const what = ok ? madeOf(result) : `failed${position}`;
  output.line(`${output.paint(ok ? 'green' : 'red', what)}  ${printable(request)}`);
  for (const { level, text } of result.console ?? result.logs ?? []) {
    output.line(output.paint('gray', printable(`  console.${level}: ${text.replaceAll('\n', '\n  ')}`)));
  }
  if (!ok) output.line(printable(`  ${result.error}`));
  for (const event of result.events ?? []) output.line(printable(indented(JSON.stringify(event, null, 2))));
  if (result.response) output.line(printable(indented(`response: ${JSON.stringify(result.response, null, 2)}`)));
}

function madeOf({ events, filtered, duration_ms }: Json): string {
  if (filtered) return 'filtered: the request does not meet the filter';
  const count = events.length === 0 ? 'no event' : events.length === 1 ? '1 event' : `${events.length} events`;
  return `${count} in ${duration_ms.toFixed(1)} ms`;
}

function indented(text: string): string {
  return `  ${text.replaceAll('\n', '\n  ')}`;
}
