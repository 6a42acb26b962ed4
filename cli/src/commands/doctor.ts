/** `tidegate doctor`: finds problems of an installation, and says how to fix them. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import type { Finding } from '../doctor/finding.ts';
import { checkPublicUrl } from '../doctor/public-url.ts';
import { checkApps, checkService } from '../doctor/service-checks.ts';
import { EXIT } from '../exit-codes.ts';
import { type Color, type Output, printable } from '../output.ts';

const ORDER = ['ok', 'warning', 'problem'] as const;
const COLOR_OF: Record<Finding['status'], Color> = { ok: 'green', warning: 'yellow', problem: 'red' };

export function register(program: Command, context: Context): void {
  program
    .command('doctor')
    .summary('find what is wrong with an installation')
    .description(
      'Checks settings, Redis, clocks, certificates, queues, runs, webhooks and apps, and says how to mend what is wrong.\n' +
        'Needs an API key with read access that is not bound to an environment; with write access it also asks the apps.\n' +
        'Exits with 7 if there is a problem; warnings alone do not count.',
    )
    .option('--problems', 'print only what is not ok')
    .option('--no-apps', 'do not ask the apps')
    .action(async ({ problems, apps }: { problems?: boolean; apps: boolean }) => {
      const api = context.api();
      const { findings, publicUrl, failedWith } = await checkService(api);
      if (publicUrl !== undefined) findings.push(...(await checkPublicUrl(publicUrl)));
      if (apps && failedWith === undefined) findings.push(...(await checkApps(api)));
      const worst = Math.max(...findings.map(({ status }) => ORDER.indexOf(status)));
      const shown = problems ? findings.filter(({ status }) => status !== 'ok') : findings;
      const output = context.output();
      output.result({ status: ORDER[worst], checks: shown }, () => print(output, shown, findings));
      if (ORDER[worst] === 'problem') context.exitCode = failedWith ?? EXIT.different;
    });
}

function print(output: Output, shown: readonly Finding[], all: readonly Finding[]): void {
  const width = Math.max(0, ...shown.map(({ id }) => id.length));
  for (const { id, status, message, remedy } of shown) {
    output.line(
      `${output.paint(COLOR_OF[status], status.padEnd('problem'.length))}  ${id.padEnd(width)}  ${printable(message)}`,
    );
    if (remedy !== null)
      output.line(`${' '.repeat('problem'.length + width + 4)}${output.paint('gray', `→ ${printable(remedy)}`)}`);
  }
  const count = (status: Finding['status']) => all.filter((one) => one.status === status).length;
  const counted = (status: Finding['status']) => `${count(status)} ${status}${count(status) === 1 ? '' : 's'}`;
  if (shown.length > 0) output.line();
  output.line(`${counted('problem')}, ${counted('warning')}, ${count('ok')} ok`);
}
