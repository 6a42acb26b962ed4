/** `tidegate send`: one event, or many from a file. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { usageError } from '../exit-codes.ts';
import { readJsonText, readText, wholeNumber } from '../input.ts';
import { chunksOf, eventsIn, type SentEvents, sendEvents } from '../send-events.ts';

interface Options {
  data?: string;
  id?: string;
  ts?: number;
  user?: string;
  batch?: string;
}

const HELP = `
Examples:
  tidegate send order/paid --data '{"orderId": "A1", "total": 120}'
  tidegate send order/paid --data @order.json --id order-A1
  tidegate send --batch events.ndjson`;

export function register(program: Command, context: Context): void {
  program
    .command('send')
    .summary('send an event, or many')
    .description(
      'Sends an event with an event key (TIDEGATE_EVENT_KEY), or else with the API key. In dev mode it needs no key.',
    )
    .argument('[name]', 'name of the event, such as order/paid')
    .option('-d, --data <json>', 'its data: JSON, @file, or - for stdin')
    .option('--id <id>', 'deduplication ID: the same ID counts once within 24 hours')
    .option('--ts <ms>', 'its time in Unix milliseconds; in the future it delays the functions', wholeNumber(1))
    .option('--user <json>', 'its user: JSON, @file, or - for stdin')
    .option('--batch <file>', 'send the events of a file, or of stdin (-): one JSON object a line, or an array of them')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, options: Options) => {
      const texts =
        options.batch === undefined ? [await oneEvent(name, options, context)] : await batch(name, options, context);
      const output = context.output();
      const sent: SentEvents = await sendEvents(context.api(), chunksOf(texts));
      output.result(sent, () => {
        for (const id of sent.ids) output.line(id);
      });
    });
}

/** Its JSON text, with the digits that the user wrote. */
async function oneEvent(name: string | undefined, options: Options, { stdin }: Context): Promise<string> {
  if (name === undefined) throw usageError('Name the event, or give --batch', 'For example: tidegate send order/paid');
  const { data, user, id, ts } = options;
  const fields = [
    ['name', JSON.stringify(name)],
    ['data', data === undefined ? '{}' : await readJsonText(data, '--data', stdin)],
    ...(user === undefined ? [] : [['user', await readJsonText(user, '--user', stdin)]]),
    ...(id === undefined ? [] : [['id', JSON.stringify(id)]]),
    ...(ts === undefined ? [] : [['ts', String(ts)]]),
  ];
  return `{${fields.map(([field, text]) => `"${field}":${text}`).join(',')}}`;
}

async function batch(name: string | undefined, options: Options, { stdin }: Context): Promise<string[]> {
  const { batch: file = '', data, id, ts, user } = options;
  if ([name, data, id, ts, user].some((value) => value !== undefined)) {
    throw usageError('--batch takes the events whole: give no name and no fields beside it');
  }
  return eventsIn(await readText(file === '-' ? '-' : `@${file}`, stdin));
}
