/** `tidegate export`, `diff` and `apply`: webhooks, keys' settings and environments as YAML in git. */
import { type Command, Option } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import { applyChange, checkVariables, inOrder } from '../config/apply.ts';
import { type Document, describeEntry, KINDS, type Kind, NAME_OF_KIND } from '../config/document.ts';
import { FILE_NAME, readDocument, toYaml, writeFolder } from '../config/files.ts';
import { readInstallation, toDocument } from '../config/installation.ts';
import { type Plan, type PlanOptions, planOf } from '../config/plan.ts';
import { presentPlan, printPlan } from '../config/print-plan.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { type Output, printable } from '../output.ts';

type Options = Partial<PlanOptions>;

export function register(program: Command, context: Context): void {
  program
    .command('export')
    .summary('write webhooks, keys and environments as YAML')
    .description(
      'Writes environments, webhooks, destinations, alerts, allowed origins of apps, and the settings of functions and keys, for git. Secrets are not in it:\n' +
        'they are references to variables, which apply reads. Prints one document, or writes a folder with a file for each transform.',
    )
    .argument('[folder]', `for ${FILE_NAME} and transforms/`)
    .addOption(new Option('--only <kinds...>', 'these alone').choices(KINDS))
    .action(async (folder: string | undefined, { only = [...KINDS] }: { only?: Kind[] }) => {
      const document = toDocument(await readInstallation(context.api(), only), only);
      const output = context.output();
      if (folder === undefined) {
        output.result({ version: 1, ...document }, () => output.line(printable(toYaml(document)).trimEnd()));
        return;
      }
      const written = await writeFolder(folder, document);
      output.result(written, () => {
        for (const path of written) output.line(path);
      });
    });
  withOptions(program.command('diff'))
    .summary('compare a file of export with the service')
    .description('Prints what apply would change. Exits with 7 if there is anything.')
    .action(async (file: string, options: Options) => {
      const { plan } = await read(context.api(), file, options);
      const output = context.output();
      output.result(presentPlan(plan), () => printPlan(output, plan));
      if (plan.changes.length > 0) context.exitCode = EXIT.different;
    });
  withOptions(program.command('apply'))
    .summary('make the service as a file of export says')
    .description(
      'Prints what will change, asks, and changes it. What the file does not have stays, unless --prune deletes it.\n' +
        'Prints the URLs of new webhooks and the secrets of new keys, once.',
    )
    .option('-y, --yes', 'do not ask')
    .action(async (file: string, { yes, ...options }: Options & { yes?: boolean }) => {
      const api = context.api();
      const output = context.output();
      const { plan } = await read(api, file, options);
      if (!output.json) printPlan(output, plan);
      rejectBlocked(plan);
      const changes = inOrder(plan.changes);
      checkVariables(changes, context.variables);
      if (changes.length > 0) await confirm(context, 'Apply these changes?', yes);
      const created: Json[] = [];
      for (const change of changes) {
        const answer = await applyChange(api, change, context.variables).catch((error) => {
          throw inContext(error, `${change.action} ${NAME_OF_KIND[change.kind]} ${describeEntry(change.entry)}`);
        });
        if (change.action === 'create' && answer) created.push(shownOnce(change.kind, answer));
      }
      output.result({ ...presentPlan(plan), created }, () => printCreated(output, changes.length, created));
    });
}

function withOptions(command: Command): Command {
  return command
    .argument('[file]', 'of tidegate export, or its folder', FILE_NAME)
    .option(
      '--prune',
      'delete webhooks, destinations, alert channels, keys, allowed origins and settings of functions and alert rules that the file does not have',
    )
    .option('--set-secrets', 'set secrets again: the service shows none, so apply sets them only where there are none');
}

async function read(
  api: ApiClient,
  file: string,
  { prune = false, setSecrets = false }: Options,
): Promise<{ document: Document; plan: Plan }> {
  const document = await readDocument(file);
  const kinds = KINDS.filter((kind) => document[kind]);
  return { document, plan: planOf(document, await readInstallation(api, kinds), { prune, setSecrets }) };
}

function rejectBlocked({ changes }: Plan): void {
  const blocked = changes.find(({ blockedBy }) => blockedBy);
  if (!blocked) return;
  const { kind, entry, blockedBy } = blocked;
  throw new CliError(`${NAME_OF_KIND[kind]} ${describeEntry(entry)}: ${blockedBy}. Nothing was changed`, {
    exitCode: EXIT.usage,
  });
}

function inContext(error: unknown, what: string): unknown {
  if (!(error instanceof CliError)) return error;
  const { exitCode, message } = error;
  return new CliError(`${what}: ${message}`, {
    exitCode,
    hint: 'What was before it in the list is done; apply again does the rest',
  });
}

function shownOnce(kind: Kind, { id, name, environment, url, secret }: Json): Json {
  const shown = kind === 'webhooks' ? { url } : { secret };
  return { kind, id: id ?? name, name, environment: environment ?? null, ...shown };
}

function printCreated(output: Output, count: number, created: readonly Json[]): void {
  if (count === 0) return;
  output.line(`Applied ${count} ${count === 1 ? 'change' : 'changes'}.`);
  for (const { kind, url, secret, ...entry } of created as (Json & { kind: Kind })[]) {
    if (kind !== 'webhooks' && secret === null) continue;
    const what = kind === 'webhooks' ? `URL ${url}` : `secret ${secret} (shown only now)`;
    output.line(printable(`${NAME_OF_KIND[kind as Kind]} ${describeEntry(entry)}: ${what}`));
  }
}
