/** The exit codes of all commands (docs/cli.md#exit-codes). */
export const EXIT = {
  ok: 0,
  /** The service rejected the request, or what the command waited for failed. */
  failed: 1,
  /** Unknown command or option, wrong or missing argument or setting. */
  usage: 2,
  notFound: 3,
  /** The key is missing, wrong, or does not permit the request. */
  notAuthorized: 4,
  /** The service does not answer. */
  unreachable: 5,
  /** The command waited in vain until its timeout. */
  timedOut: 6,
  /** `diff`, `shadow` or `what-if` found differences; `doctor` found problems. */
  different: 7,
  /** Ctrl-C: 128 and the number of SIGINT, as shells have it. */
  interrupted: 130,
} as const;

/** An error with a message for the user: what happened, and how to mend it. */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: number;
  /** A remedy, on a separate line. */
  readonly hint: string | undefined;
  /** The service's response, if any; `code` says which error it is (docs/errors.md). */
  readonly answer: Record<string, unknown> | undefined;

  constructor(
    message: string,
    {
      exitCode = EXIT.failed,
      hint,
      answer,
    }: { exitCode?: number; hint?: string | undefined; answer?: Record<string, unknown> } = {},
  ) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.answer = answer;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, hint });
}
