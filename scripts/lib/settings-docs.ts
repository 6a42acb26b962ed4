/** docs/settings.md and .env.example, from src/settings/. */
import { type Setting, settingsOf } from '../../src/settings/display.ts';
import { SETTING_GROUPS } from '../../src/settings/settings.ts';

export function settingsPage(): string {
  const tables = groups().map(([heading, settings]) => {
    const rows = settings.map(({ name, default: value, meaning }) => {
      return `| \`${name}\` | ${value === null ? '' : `\`${value}\``} | ${meaning} |`;
    });
    return [`## ${heading}`, '', '| setting | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return `# Settings

Environment variables, read at startup; an empty one counts as not set. [deploy.md](deploy.md#required-settings) names
those that production needs, and \`scripts/start release\` checks all. [.env.example](../.env.example) is a template.
For traces, see [tracing.md](tracing.md).

${tables.join('\n')}`;
}

export function envExample(): string {
  const sections = groups().map(([heading, settings]) => {
    const lines = settings.map(({ name, default: value, meaning }) => `# ${meaning}\n${name}=${value ?? ''}\n`);
    return `\n# --- ${heading} ---\n\n${lines.join('')}`;
  });
  return `# All settings with their defaults. An empty value counts as not set. Copy this file to .env, edit it, and start with
#   node --env-file=.env src/web.ts      node --env-file=.env src/worker.ts
# scripts/dev needs no settings. Generated from src/settings/ by: node scripts/docs.ts
${sections.join('')}
# OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT, enable traces: docs/tracing.md
`;
}

function groups(): [heading: string, settings: Setting[]][] {
  const settings = settingsOf({});
  return Object.entries(SETTING_GROUPS).map(([heading, group]) => [
    heading,
    settings.filter(({ name }) => name in group),
  ]);
}
