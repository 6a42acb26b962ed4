/** The options of `webhooks create` and `webhooks update`. */
import type { Command } from 'commander';
import type { Stdin } from './context.ts';
import { usageError } from './exit-codes.ts';
import { readFileOf, readSecret } from './input.ts';

export interface WebhookOptions {
  provider?: string;
  transform?: string;
  filter?: string;
  method?: string[];
  setting?: string[];
  secretStdin?: boolean;
  account?: string[];
  accountKeyStdin?: boolean;
  verify?: boolean;
  message?: string;
}

export function withWebhookOptions(command: Command): Command {
  return command
    .option('--provider <id>', 'such as stripe or github; "none" removes it')
    .option('--transform <file>', 'JavaScript file with the function transform(evt, headers, queryParams, raw)')
    .option('--filter <cel>', 'requests that do not meet it make no event; "none" removes it')
    .option('--method <methods...>', 'HTTP methods to accept')
    .option('--setting <name=value...>', 'settings of the provider')
    .option('--secret-stdin', "read the provider's secret from stdin")
    .option('--account <name=value...>', 'whose list of what the provider sent is compared with what came')
    .option('--account-key-stdin', 'read a key for that list from stdin')
    .option('--no-verify', 'take requests without verification')
    .option('--message <text>', 'for the list of versions');
}

/** The fields that the options set. @throws CliError */
export async function bodyOf(options: WebhookOptions, stdin: Stdin): Promise<Record<string, unknown>> {
  const { provider, transform, filter, method, setting, secretStdin, verify, message } = options;
  const { account, accountKeyStdin } = options;
  return {
    ...(provider !== undefined && { provider: orNull(provider) }),
    ...(transform !== undefined && { transform: await readFileOf(transform) }),
    ...(filter !== undefined && { filter: orNull(filter) }),
    ...(method && { methods: method.flatMap((one) => one.toUpperCase().split(',')) }),
    ...(setting && { settings: Object.fromEntries(setting.map(pairOf('--setting'))) }),
    ...(secretStdin && { secrets: [await readSecret("the provider's secret", stdin)] }),
    ...((account || accountKeyStdin) && {
      reconciliation: {
        ...(account && { account: Object.fromEntries(account.map(pairOf('--account'))) }),
        ...(accountKeyStdin && { key: await readSecret('the key', stdin) }),
      },
    }),
    // Commander sets true if the option is absent.
    ...(verify === false && { verify }),
    ...(message !== undefined && { message }),
  };
}

function orNull(text: string): string | null {
  return text === 'none' ? null : text;
}

function pairOf(option: string): (text: string) => [string, string] {
  return (text) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) throw usageError(`${option} ${text}: expected name=value`);
    return [name, value];
  };
}
