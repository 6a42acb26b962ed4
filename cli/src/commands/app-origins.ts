/** `tidegate apps held`, `confirm`, `reject` and `allow`: where apps may be (docs/security.md#addresses-of-apps). */
import type { Command } from 'commander';
import type { Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { at } from '../list-options.ts';
import { printable } from '../output.ts';
import { addAction, addList } from '../resource.ts';

export function registerOrigins(apps: Command, context: Context): void {
  addList(apps, context, {
    name: 'held',
    description:
      'Lists registrations that wait for a confirmation: their apps would move to an origin that nobody has allowed.',
    path: '/v1/held-registrations',
    headings: ['ID', 'APP', 'TO', 'ALLOWS', 'FROM', 'LAST', 'PATTERN', 'REFUSED'],
    row: (held) => [
      held.id,
      held.app,
      held.url,
      held.origins.join(' '),
      held.present_url,
      held.last_at,
      held.proposed_pattern,
      held.refused && `${held.refused.count} more of the app, last ${held.refused.last_url}`,
    ],
  });
  apps
    .command('confirm')
    .description('Confirms a held registration: asks the app there to register, and allows its origins from then on.')
    .argument('<id>', 'of tidegate apps held')
    .option('--allow <patterns...>', "origins to allow too, such as 'https://shop-*-acme.example.app'")
    .action(async (id: string, { allow = [] }: { allow?: string[] }) => {
      const { data } = await context.api().post(at`/v1/held-registrations/${id}/confirm`, { allow });
      const output = context.output();
      output.result(data, () => output.line(`Registered ${printable(data.url)}.`));
    });
  addAction(apps, context, {
    name: 'reject',
    description: 'Rejects a held registration. It waits again if the app registers there again.',
    argument: 'id',
    method: 'DELETE',
    path: (id) => at`/v1/held-registrations/${id}`,
    done: (id) => `Rejected ${id}.`,
  });
  apps
    .command('allow')
    .description(
      'Allows origins of an app: where it may register by itself, and where its endpoints are called. Without any, lists them.',
    )
    .argument('<name>', 'of the app, which may not have registered yet')
    .argument('[origins...]', "such as https://shop.example.com or 'https://shop-*-acme.example.app'")
    .option('--only', 'remove the others')
    .action(async (name: string, origins: string[], { only }: { only?: boolean }) => {
      const api = context.api();
      const all: Json[] = await api.all('/v1/allowed-origins');
      const present: string[] = all.find(({ app }) => app === name)?.origins ?? [];
      const wanted = only ? origins : [...present, ...origins];
      const isChange = only || origins.length > 0;
      const data = isChange
        ? (await api.put(at`/v1/allowed-origins/${name}`, { origins: wanted })).data
        : { app: name, origins: present };
      const output = context.output();
      output.result(data, () => {
        for (const origin of data.origins) output.line(printable(origin));
        if (data.origins.length === 0) output.note(`No origins of ${printable(name)} are allowed.`);
      });
    });
}
