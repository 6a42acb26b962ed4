/** Environment variables: of the process, or bindings of a request, where a platform has no others. */
import { AsyncLocalStorage } from 'node:async_hooks';

export type Env = Record<string, string | undefined>;

const bindingsOfRequest = new AsyncLocalStorage<Env>();

/** @param bindings of any types: variables and secrets are texts */
export function withBindings<T>(bindings: object, fn: () => T): T {
  const texts = Object.entries(bindings).filter(
    ([name, value]) => name.startsWith('SERVICE_') && typeof value === 'string',
  );
  return bindingsOfRequest.run(Object.fromEntries(texts), fn);
}

/** Bindings override variables. */
export function currentEnv(): Env {
  const variables: Env = globalThis.process?.env ?? {};
  const bindings = bindingsOfRequest.getStore();
  return bindings ? { ...variables, ...bindings } : variables;
}
