import { useMemo, useState } from 'react';
import { useCurrentUser } from '../../../api/current-user.ts';
import type { StoredEvent } from '../../../api/types.ts';
import { curlSnippet } from '../../../features/events/snippets/curl.ts';
import { goSnippet } from '../../../features/events/snippets/go.ts';
import { pythonSnippet } from '../../../features/events/snippets/python.ts';
import { sendTarget } from '../../../features/events/snippets/target.ts';
import { typescriptSnippet } from '../../../features/events/snippets/typescript.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Card } from '../../../ui/page.tsx';
import { SegmentedLinks } from '../../../ui/segmented-links.tsx';
import { deduplicationId, toEventToSend } from './queries.ts';

export const LANGUAGES = {
  curl: ['curl', curlSnippet],
  typescript: ['TypeScript', typescriptSnippet],
  python: ['Python', pythonSnippet],
  go: ['Go', goSnippet],
} as const;
export type Language = keyof typeof LANGUAGES;

const OPTIONS = Object.entries(LANGUAGES).map(([id, [text]]) => ({ id, text }));

/** Code that sends the event. */
export function CodeTab({ env, event, language }: { env: string; event: StoredEvent; language: Language }) {
  const dev = useCurrentUser()?.kind === 'dev';
  const [includeId, setIncludeId] = useState(false);
  const code = useMemo(
    () => LANGUAGES[language][1](toEventToSend(event, includeId), sendTarget(env, dev)),
    [language, event, includeId, env, dev],
  );
  return (
    <Card>
      <div className="space-y-3 p-4">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <SegmentedLinks label="Language" param="language" current={language} options={OPTIONS} />
          <label className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={includeId}
              onChange={({ target }) => setIncludeId(target.checked)}
              className="size-4 accent-accent"
            />
            Include ID and timestamp
          </label>
        </div>
        <CodeBlock text={code} label="Copy code" wrap={false} />
        <p className="text-xs text-muted">
          {includeId && deduplicationId(event) !== null
            ? 'An event with the includeId ID is ignored as a duplicate for 24 hours.'
            : 'Each call sends a new event.'}
          {!dev && ' Set SERVICE_EVENT_KEY to an event key.'}
        </p>
      </div>
    </Card>
  );
}
