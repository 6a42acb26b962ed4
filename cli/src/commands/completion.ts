/** `tidegate completion`: scripts that complete commands and options in a shell. */
import { Argument, type Command } from 'commander';
import { completionScript, SHELL_NAMES, type Shell } from '../completion.ts';
import type { Context } from '../context.ts';

const HELP = `
Examples:
  source <(tidegate completion bash)       in ~/.bashrc
  source <(tidegate completion zsh)        in ~/.zshrc, after compinit
  tidegate completion fish | source        in ~/.config/fish/config.fish`;

export function register(program: Command, context: Context): void {
  program
    .command('completion')
    .summary('print a completion script for a shell')
    .description('Prints a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>').choices(SHELL_NAMES))
    .addHelpText('after', HELP)
    .action((shell: Shell) => context.output().line(completionScript(program, shell).trimEnd()));
}
