/** The environment of commands. They get it as an argument, and use `process` and the network only through it. */
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { ApiClient } from './api-client.ts';
import { EXIT } from './exit-codes.ts';
import { Output, type OutputOptions } from './output.ts';
import { type GlobalOptions, readSettings, type Settings } from './settings.ts';

export type Stdin = Readable & { isTTY?: boolean };

export interface ContextOptions {
  /** The command line, without Node and the program. */
  args: readonly string[];
  variables: Record<string, string | undefined>;
  stdin: Stdin;
  stdout: OutputOptions['stdout'];
  stderr: OutputOptions['stderr'];
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

export class Context {
  readonly args: readonly string[];
  readonly variables: Record<string, string | undefined>;
  readonly stdin: Stdin;
  readonly stderr: OutputOptions['stderr'];
  readonly signal: AbortSignal;
  /** The exit code of a command that ends without an error. */
  exitCode: number = EXIT.ok;
  readonly #options: ContextOptions;
  readonly #program: Command;

  constructor(program: Command, options: ContextOptions) {
    this.#program = program;
    this.#options = options;
    this.args = options.args;
    this.variables = options.variables;
    this.stdin = options.stdin;
    this.stderr = options.stderr;
    this.signal = options.signal;
  }

  /** @throws CliError */
  settings(): Settings {
    return readSettings(this.#program.opts<GlobalOptions>(), this.variables);
  }

  /** @throws CliError */
  api(): ApiClient {
    return new ApiClient(this.settings(), this.signal);
  }

  output(): Output {
    const { stdout, stderr } = this.#options;
    const { json = false, color = true } = this.#program.opts<GlobalOptions>();
    const colors = color && !this.variables.NO_COLOR && Boolean(stdout.isTTY || this.variables.FORCE_COLOR);
    return new Output({ stdout, stderr, json, colors });
  }
}

/** The export of each file in commands/. */
export type Register = (program: Command, context: Context) => void;
