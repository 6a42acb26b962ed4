import { PRODUCTION } from '../../api/client.ts';
import { useCurrentUser } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';

/** A curl command that registers an app in the current environment. In production the key comes from `API_KEY`. */
export function useRegistrationCommand(): string {
  const env = useEnv();
  const dev = useCurrentUser()?.kind === 'dev';
  const lines = [`curl '${window.location.origin}/v1/apps'`, "  -H 'content-type: application/json'"];
  if (!dev) lines.push('  -H "authorization: Bearer $API_KEY"');
  if (env !== PRODUCTION) lines.push(`  -H 'x-service-env: ${env}'`);
  return [...lines, `  -d '{"url": "http://127.0.0.1:3000/api/service"}'`].join(' \\\n');
}
