/** Where a handler logs: each line once, though the code between steps is repeated. */

export interface Logger {
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

/** Says nothing while the code repeats what it did in earlier calls. */
export function quietWhile(replaying: () => boolean, logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (...args: unknown[]) => {
      if (!replaying()) logger[level](...args);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
