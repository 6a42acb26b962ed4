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

/** Whether the platform limits how long a request may take, and charges for the time. */
export function isServerless(framework: string): boolean {
  const { AWS_LAMBDA_FUNCTION_NAME: lambda, VERCEL: vercel, FUNCTIONS_WORKER_RUNTIME: azure } = currentEnv();
  if (lambda || vercel || azure || framework === 'aws-lambda' || framework === 'cloudflare') return true;
  const { navigator, Netlify } = globalThis as { navigator?: { userAgent?: string }; Netlify?: unknown };
  return navigator?.userAgent === 'Cloudflare-Workers' || Netlify !== undefined;
}

/** Bindings override variables. */
export function currentEnv(): Env {
  const variables: Env = globalThis.process?.env ?? {};
  const bindings = bindingsOfRequest.getStore();
  return bindings ? { ...variables, ...bindings } : variables;
}
