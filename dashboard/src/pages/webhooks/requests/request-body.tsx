import { useMemo, useState } from 'react';
import type { LoggedRequestDetails } from '../../../api/types.ts';
import { parseExact } from '../../../lib/exact-json.ts';
import { CopyButton } from '../../../ui/code-block.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Card } from '../../../ui/page.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';

/** Characters rendered before the user asks for more. */
const PREVIEW_CHARS = 20_000;

/** The raw body, and a tree if it is JSON. */
export function RequestBody({ body }: { body: LoggedRequestDetails['body'] }) {
  const parsed = useMemo(() => (body?.encoding === 'utf8' ? tryParse(body.content) : undefined), [body]);
  const [view, setView] = useState<'tree' | 'raw'>('tree');
  if (!body) {
    return (
      <Card title="Body">
        <p className="p-4 text-muted">The body was not read completely and is not stored.</p>
      </Card>
    );
  }
  const shown = parsed ? view : 'raw';
  return (
    <Card
      title="Body"
      actions={
        <>
          {parsed && (
            <SegmentedControl
              label="View of the body"
              options={[
                ['tree', 'Tree'],
                ['raw', 'Raw'],
              ]}
              value={shown}
              onChange={setView}
            />
          )}
          <CopyButton text={body.content} label="Copy body" />
        </>
      }
    >
      {parsed && shown === 'tree' ? <JsonTree value={parsed.value} label="Body" /> : <Raw body={body} />}
    </Card>
  );
}

function Raw({ body: { content, encoding } }: { body: NonNullable<LoggedRequestDetails['body']> }) {
  const [all, setAll] = useState(false);
  const cut = content.length > PREVIEW_CHARS && !all;
  if (content === '') return <p className="p-4 text-muted">Empty</p>;
  return (
    <>
      {encoding === 'base64' && <p className="px-4 pt-3 text-xs text-muted">Binary, shown as Base64.</p>}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-[36rem] overflow-auto p-4 font-mono text-xs leading-6 break-all whitespace-pre-wrap"
      >
        {cut ? content.slice(0, PREVIEW_CHARS) : content}
      </pre>
      {cut && (
        <button type="button" className="px-4 pb-4 text-sm text-accent underline" onClick={() => setAll(true)}>
          {(content.length - PREVIEW_CHARS).toLocaleString()} more characters
        </button>
      )}
    </>
  );
}

function tryParse(text: string): { value: unknown } | undefined {
  try {
    const value = parseExact(text);
    return typeof value === 'object' && value !== null ? { value } : undefined;
  } catch {
    return undefined;
  }
}
