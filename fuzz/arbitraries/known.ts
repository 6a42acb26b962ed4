/** Placeholders of existing resources (targets.ts), by the path of an operation of the OpenAPI document. */
const KNOWN: [RegExp, ...string[]][] = [
  [/^\/v1\/events\/\{/, '{{event}}', '{{archived-event}}'],
  [/^\/v1\/runs\/\{/, '{{run}}', '{{archived-run}}'],
  [/^\/v1\/runs\/bulk\/\{/, '{{bulk-action}}', '{{paused-bulk-action}}'],
  [/^\/v1\/errors\/\{/, '{{fingerprint}}'],
  [/^\/v1\/views\/\{/, '{{view}}'],
  [/^\/v1\/holding\/\{/, '{{held-event}}'],
  [/^\/v1\/replays\/\{/, '{{replay}}'],
  [/^\/v1\/functions\/\{/, '{{function}}'],
  [/^\/v1\/apps\/\{/, '{{app}}'],
  [/^\/v1\/webhooks\/\{/, '{{webhook}}', '{{webhook-signed}}'],
  [/^\/v1\/destinations\/\{/, '{{destination}}'],
  [/^\/v1\/webhook-issues\/\{/, '{{webhook-issue}}'],
  [/^\/v1\/environments\/\{/, '{{environment}}'],
  [/^\/v1\/event-keys\/\{/, '{{event-key-id}}'],
  [/^\/v1\/api-keys\/\{/, '{{api-key-id}}'],
  [/^\/v1\/users\/\{/, '{{user}}'],
];

/** And by the name of the parameter, within these. */
const KNOWN_PARAMETERS: Record<string, string> = {
  '{replay}': '{{webhook-replay}}',
  '{rid}': '{{webhook-request}}',
  '{version}': '2',
  '{secret}': '{{webhook-secret}}',
};

/** @param segment such as `{id}` */
export function knownIn(path: string, segment: string): string[] {
  const inside = KNOWN_PARAMETERS[segment];
  if (inside) return [inside];
  const [, ...ofPath] = KNOWN.find(([pattern]) => pattern.test(path)) ?? [];
  return ofPath;
}
