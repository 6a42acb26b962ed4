/** Commands that most resources of the API have. */
import type { Command } from 'commander';
import type { ApiClient, Json, Query } from './api-client.ts';
import { confirm } from './confirm.ts';
import type { Context } from './context.ts';
import type { Output } from './output.ts';
import type { Row } from './table.ts';

export interface ListedResource<Options> {
  /** Default: `list`. */
  name?: string;
  description: string;
  path: string;
  query?: (options: Options) => Query;
  headings: string[];
  row: (item: Json, output: Output) => Row;
  /** The fields of an item that --json shows; default: all. */
  shown?: (item: Json) => Json;
}

/** All entries. */
export function addList<Options>(parent: Command, context: Context, resource: ListedResource<Options>): Command {
  const { name = 'list', description, path, query, headings, row, shown = (item) => item } = resource;
  const command = parent.command(name).description(description);
  if (name === 'list') command.alias('ls');
  return command.action(async (options: Options) => {
    const found = (await context.api().all(path, query?.(options))).map(shown);
    const output = context.output();
    output.result(found, () => {
      output.table(
        headings,
        found.map((item) => row(item, output)),
      );
    });
  });
}

export interface ResourceAction {
  name: string;
  description: string;
  /** Its name, or its name and description; default: `id`. */
  argument?: string | readonly [name: string, description: string];
  /** Set if the argument is not always an ID. */
  idOf?: (api: ApiClient, argument: string) => Promise<string>;
  method?: 'POST' | 'DELETE';
  path: (id: string) => string;
  /** Asked before, unless --yes is given. */
  question?: (id: string) => string;
  /** The text for people when the command is done. */
  done: (id: string, data: Json) => string;
}

/** An action on one entry, without a body. */
export function addAction(parent: Command, context: Context, action: ResourceAction): Command {
  const { name, description, argument = 'id', idOf, method = 'POST', path, question, done } = action;
  const [argumentName, explained] = typeof argument === 'string' ? [argument] : argument;
  const command = parent.command(name).description(description).argument(`<${argumentName}>`, explained);
  if (question) command.option('-y, --yes', 'do not ask');
  return command.action(async (given: string, { yes }: { yes?: boolean }) => {
    const api = context.api();
    const id = idOf ? await idOf(api, given) : given;
    if (question) await confirm(context, question(given), yes);
    const { data } = await (method === 'POST' ? api.post(path(id)) : api.delete(path(id)));
    const output = context.output();
    output.result(data ?? null, () => output.line(done(given, data)));
  });
}
