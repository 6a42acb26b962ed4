/** The logger of handlers: logs each line once, although the code between steps runs again. */

export interface Logger {
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

/** Suppresses lines while the code replays earlier calls. */
export function quietWhile(replaying: () => boolean, logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (...args: unknown[]) => {
      if (!replaying()) logger[level](...args);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
