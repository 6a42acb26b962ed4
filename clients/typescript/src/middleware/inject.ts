/** Dependency injection: values for all handlers. */
import type { Middleware } from './types.ts';

/** The handler's context has these values: `middleware: [inject({ db })]`, then `({ event, step, db }) => …`. */
export function inject<const Values extends object>(values: Values): Middleware<Values> {
  return {
    name: `inject ${Object.keys(values).join(', ')}`,
    onRun(call, next) {
      call.add(values);
      return next();
    },
  };
}
