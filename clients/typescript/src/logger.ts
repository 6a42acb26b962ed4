/** The logger of handlers: logs each line once, although the code between steps runs again. */

export interface Logger {
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

export interface HandlerLogger {
  /** The app's. */
  logger: Logger;
  /** Whether the code is repeating steps of earlier calls. */
  replaying(): boolean;
  /** Also gets each line; undefined: lines go only to the logger. */
  collect?: ((level: keyof Logger, args: readonly unknown[]) => void) | undefined;
}

/** Suppresses lines while the code replays earlier calls. */
export function handlerLogger({ logger, replaying, collect }: HandlerLogger): Logger {
  const at =
    (level: keyof Logger) =>
    (...args: unknown[]) => {
      if (replaying()) return;
      collect?.(level, args);
      logger[level](...args);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
