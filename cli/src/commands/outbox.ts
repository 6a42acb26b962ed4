/** `tidegate outbox`: the tables for the app's own Postgres, the relay of its outbox, and its rows. */
import { type Command, Option } from 'commander';
import type { RelayOptions } from 'tidegate/postgres';
import { SCHEMA } from '../../../clients/typescript/src/postgres/statements.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { wholeNumber } from '../input.ts';
import { DECIDABLE, type Outbox, STATES, type State, withOutbox } from '../outbox.ts';

const POSITION = /^[1-9]\d{0,18}$/;
const LIMIT = 100;
const LIMIT_MAX = 10_000;
const DAYS_MAX = 36_500;

interface DatabaseOptions {
  databaseUrl?: string;
}

export function register(program: Command, context: Context): void {
  const outbox = program
    .command('outbox')
    .summary("the events in an app's own Postgres that wait to be sent")
    .description("The tables for the app's own Postgres, its relay, and the events in its outbox.");
  outbox
    .command('migrate')
    .description('Prints the SQL that makes the tables, for the migrations of the app. It changes nothing.')
    .option('--print', 'what it does; so that it is clear that it does no more')
    .action(() => {
      const output = context.output();
      output.result({ sql: SCHEMA }, () => output.line(SCHEMA));
    });
  withDatabase(outbox.command('relay'))
    .description(
      'Sends the events in the outbox, and those that are added, until SIGTERM or Ctrl-C. It shares the rows with other relays, and with the\n' +
        'workers. Prints the events that are sent; what is wrong goes to stderr. Sends with the event key; the API key looks up whether earlier\n' +
        'sends arrived.',
    )
    .option('--keep-days <number>', 'keep rows of sent events for these days; default: 0', wholeNumber(0, DAYS_MAX))
    .option('--retention-days <number>', 'how long the service keeps events; default: 7', wholeNumber(1, DAYS_MAX))
    .option(
      '--steps-keep-days <number>',
      'keep the results of step.transaction for at least these days; default: 30',
      wholeNumber(1, DAYS_MAX),
    )
    .action(async ({ databaseUrl = context.variables.DATABASE_URL, ...options }: DatabaseOptions & RelayOptions) => {
      const terminated = new AbortController();
      const terminate = () => terminated.abort();
      process.on('SIGTERM', terminate);
      try {
        const { runRelay } = await import('../outbox-relay.ts');
        const signal = AbortSignal.any([context.signal, terminated.signal]);
        await runRelay(context, { ...options, databaseUrl, signal });
      } finally {
        process.off('SIGTERM', terminate);
      }
      if (!terminated.signal.aborted) context.exitCode = EXIT.interrupted;
    });
  withDatabase(outbox.command('list').alias('ls'))
    .description(
      'Lists events that wait for a person: those that Tidegate refused, and those of which it is uncertain whether they arrived.',
    )
    .addOption(new Option('--state <state>', 'others: only this state').choices(STATES))
    .option('--limit <number>', `at most so many; default: ${LIMIT}`, wholeNumber(1, LIMIT_MAX))
    .action(async ({ databaseUrl, state, limit = LIMIT }: DatabaseOptions & { state?: State; limit?: number }) => {
      const rows = await using(context, databaseUrl, (of) => of.list(state ? [state] : DECIDABLE, limit));
      const output = context.output();
      output.result(rows, () =>
        output.table(
          ['POSITION', 'STATE', 'NAME', 'ID', 'KEY', 'CREATED', 'SENT', 'ERROR'],
          rows.map((row) => [
            row.position,
            row.state,
            row.name,
            row.id,
            row.order_key,
            row.created_at.toISOString(),
            row.sent_at?.toISOString() ?? null,
            row.error,
          ]),
        ),
      );
    });
  registerDecision(outbox, context, {
    name: 'resend',
    description: 'Sends refused and uncertain events again. An uncertain one may count twice.',
    question: 'Send again',
    did: 'Sent again',
    decide: (of, positions) => of.resend(positions),
  });
  registerDecision(outbox, context, {
    name: 'drop',
    description: 'Removes refused and uncertain events from the outbox. They are not sent.',
    question: 'Remove',
    did: 'Removed',
    decide: (of, positions) => of.drop(positions),
  });
}

interface Decision {
  name: string;
  description: string;
  question: string;
  did: string;
  /** @returns positions of the rows it was done to */
  decide(outbox: Outbox, positions: readonly string[]): Promise<string[]>;
}

function registerDecision(outbox: Command, context: Context, { name, description, question, did, decide }: Decision) {
  withDatabase(outbox.command(name))
    .description(description)
    .argument('<position...>', 'of the rows, from: tidegate outbox list')
    .option('-y, --yes', 'do not ask')
    .action(async (positions: string[], { databaseUrl, yes }: DatabaseOptions & { yes?: boolean }) => {
      const wrong = positions.find((position) => !POSITION.test(position));
      if (wrong !== undefined) throw usageError(`${wrong} is not a position`, 'List them: tidegate outbox list');
      await confirm(
        context,
        `${question} ${positions.length === 1 ? 'the event' : `${positions.length} events`}?`,
        yes,
      );
      const done = await using(context, databaseUrl, (of) => decide(of, positions));
      const output = context.output();
      output.result({ positions: done }, () => output.line(`${did}: ${done.join(', ') || 'none'}.`));
      const others = positions.filter((position) => !done.includes(position));
      if (others.length === 0) return;
      throw new CliError(`Neither refused nor uncertain: ${others.join(', ')}`, { exitCode: EXIT.notFound });
    });
}

function withDatabase(command: Command): Command {
  return command.option('--database-url <url>', "URL of the app's Postgres; default: the variable DATABASE_URL");
}

function using<T>(context: Context, url: string | undefined, work: (outbox: Outbox) => Promise<T>): Promise<T> {
  return withOutbox(url ?? context.variables.DATABASE_URL, work);
}
