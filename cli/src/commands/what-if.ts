/** `tidegate what-if`: what another build of an app would do with its runs. */
import type { Command } from 'commander';
import { ApiClient, type Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { pointInTime, wholeNumber } from '../input.ts';
import { at } from '../list-options.ts';
import { follow, showProgress } from '../progress.ts';
import { CONDITIONS, markdownOf, meets, printReport } from '../what-if/report.ts';
import { markdownOfWebhooks, printWebhooks, whatIfOfWebhooks } from '../what-if/webhooks.ts';
import { countsText } from '../what-if/words.ts';

const CANCEL_MS = 5_000;

interface WhatIfOptions {
  app?: string;
  webhooks?: string;
  name?: string;
  active?: boolean;
  last?: string;
  triggers: boolean;
  activeMax?: number;
  pastMax?: number;
  maxMinutes?: number;
  markdown?: boolean;
  failOn: string[];
}

export function register(program: Command, context: Context): void {
  program
    .command('what-if')
    .summary('show what another build of an app would do with its runs and events')
    .description(
      'Calls another build of an app with the events and results of stored runs, and asks it to plan only: no step runs, and nothing\n' +
        'is stored. Code between steps does run. Compares active runs; with --last also, or without --active only, completed and failed ones.\n' +
        'Asks it for its registration too, without registering it, and compares its triggers on a sample of events.\n' +
        'Exits with 7 if a run is as --fail-on says.',
    )
    .option('--app <url>', 'where the other build runs, such as http://127.0.0.1:3001/api/service')
    .option(
      '--webhooks <file>',
      'instead: what filters and transforms of this configuration in git, or its folder, make of logged requests',
    )
    .option('--name <app>', 'name of the app, if there are several')
    .option('--active', 'compare the runs that have not ended (default without --last)')
    .option(
      '--last <duration>',
      'compare runs that have completed or failed, or logged requests, back to so long ago: 12h, 7d',
    )
    .option('--no-triggers', 'do not compare triggers, on a sample of the events of that time, or of 7 days')
    .option('--active-max <n>', 'at most so many active runs (default: 10000)', wholeNumber(1))
    .option(
      '--past-max <n>',
      'at most so many completed, and failed, runs of each function (default: 100)',
      wholeNumber(1),
    )
    .option('--max-minutes <n>', 'end after this time (default: 30)', wholeNumber(1))
    .option('--markdown', 'print the report as Markdown, for a pull request')
    .option('--fail-on <conditions>', `separated by commas: ${CONDITIONS.join(', ')}`, conditions, ['broken'])
    .action(({ app, webhooks, ...options }: WhatIfOptions) => {
      if ((app === undefined) === (webhooks === undefined)) throw usageError('Give --app <url> or --webhooks <file>');
      return app === undefined ? ofWebhooks(webhooks as string, options, context) : ofApp(app, options, context);
    });
}

async function ofApp(url: string, options: WhatIfOptions, context: Context): Promise<void> {
  const { name: app, last, activeMax, pastMax, maxMinutes } = options;
  const api = context.api();
  const { data: started } = await api.post('/v1/what-ifs', {
    url,
    ...(app !== undefined && { app }),
    active: options.active ?? last === undefined,
    triggers: options.triggers,
    ...(last !== undefined && { last }),
    ...(activeMax !== undefined && { active_max: activeMax }),
    ...(pastMax !== undefined && { past_max: pastMax }),
    ...(maxMinutes !== undefined && { max_minutes: maxMinutes }),
  });
  const path = at`/v1/what-ifs/${started.id}`;
  const isOver = ({ status }: Json) => status === 'done' || status === 'cancelled';
  const read = async () => (await api.get(path)).data;
  const show = (now: Json) => showProgress(context, countsText(now));
  const done = await follow(read, isOver, context, show).catch(async (error) => {
    // Ctrl-C also aborts the requests of `api`.
    const last = new ApiClient(context.settings(), AbortSignal.timeout(CANCEL_MS));
    if (context.signal.aborted) await last.post(`${path}/cancel`).catch(() => {});
    throw error;
  });
  const output = context.output();
  if (options.markdown) output.line(markdownOf(done));
  else output.result(done, () => printReport(output, done));
  if (done.stopped_because === 'app_unreachable') throw new CliError('the candidate no longer answers');
  if (meets(done, options.failOn)) context.exitCode = EXIT.different;
}

async function ofWebhooks(file: string, { last, markdown, failOn }: WhatIfOptions, context: Context): Promise<void> {
  const from = last === undefined ? undefined : pointInTime(last);
  const found = await whatIfOfWebhooks(file, from, context.api());
  const output = context.output();
  if (markdown) output.line(markdownOfWebhooks(found));
  else output.result(found, () => printWebhooks(output, found));
  const isBroken = found.broken > 0 && failOn.some((one) => one === 'broken' || one === 'changed');
  if (isBroken || (found.changed > 0 && failOn.includes('changed'))) context.exitCode = EXIT.different;
}

function conditions(text: string): string[] {
  const given = text.split(',');
  const unknown = given.find((one) => !CONDITIONS.includes(one));
  if (unknown !== undefined) {
    throw usageError(`--fail-on: ${JSON.stringify(unknown)} is none of ${CONDITIONS.join(', ')}`);
  }
  return given;
}
