/** `tidegate import hookdeck`: connections of Hookdeck as configuration in git. */
import type { Command } from 'commander';
import type { Json } from '../api-client.ts';
import { toYaml, writeFolder } from '../config/files.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { readText } from '../input.ts';
import { printable } from '../output.ts';
import { type Difference, importConnections } from './connections.ts';

export function register(program: Command, context: Context): void {
  program
    .command('hookdeck')
    .description(
      "Reads connections as Hookdeck's API lists them (GET /connections), and writes webhooks and destinations for tidegate apply.\n" +
        'Changes nothing at the service, and nothing at Hookdeck. Exits with 7 if something is not taken over as it was.',
    )
    .argument('<connections>', '@file, or - for stdin')
    .argument('[folder]', 'for tidegate.yaml and transforms/; without it, one document is printed')
    .action(async (connections: string, folder: string | undefined) => {
      const api = context.api();
      const output = context.output();
      const known: Json[] = await api.all('/v1/providers');
      const text = await readText(connections, context.stdin);
      const providers = new Set(known.map(({ id }) => id as string));
      const { document, differences } = importConnections(text, providers, api.settings.environment ?? 'production');
      const files = folder === undefined ? [] : await writeFolder(folder, document);
      output.result({ document, differences: differences.map(present), files }, () => {
        if (folder === undefined) output.line(printable(toYaml(document)).trimEnd());
        for (const file of files) output.line(file);
      });
      for (const { connection, leftOut, what } of output.json ? [] : differences) {
        output.note(printable(`${connection}: ${leftOut ? 'left out' : 'not taken over'}: ${what}`));
      }
      if (differences.length > 0) context.exitCode = EXIT.different;
    });
}

function present({ connection, leftOut, what }: Difference): Json {
  return { connection, left_out: leftOut, what };
}
