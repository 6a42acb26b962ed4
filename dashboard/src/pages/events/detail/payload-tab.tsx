import { useMemo } from 'react';
import type { StoredEvent } from '../../../api/types.ts';
import { stringifyExact } from '../../../lib/exact-json.ts';
import { CodeBlock, CopyButton } from '../../../ui/code-block.tsx';
import { Editor } from '../../../ui/editor.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Card } from '../../../ui/page.tsx';
import { SegmentedLinks } from '../../../ui/segmented-links.tsx';

export type View = 'tree' | 'raw';

const VIEWS = [
  { id: 'tree', text: 'Tree' },
  { id: 'raw', text: 'Raw' },
];

/** Longer text goes into the editor, which renders only visible lines. */
const MAX_INLINE_CHARS = 20_000;

export function PayloadTab({ event: { data, user }, view }: { event: StoredEvent; view: View }) {
  return (
    <div className="space-y-4">
      <Json title="data" value={data} view={view} />
      {user !== undefined && <Json title="user" value={user} view={view} />}
    </div>
  );
}

function Json({ title, value, view }: { title: string; value: unknown; view: View }) {
  const text = useMemo(() => stringifyExact(value, 2), [value]);
  return (
    <Card
      title={<span className="font-mono text-sm">{title}</span>}
      actions={
        <>
          <SegmentedLinks label={`View of ${title}`} param="view" current={view} options={VIEWS} />
          <CopyButton text={text} label={`Copy ${title}`} />
        </>
      }
    >
      {view === 'tree' ? <JsonTree value={value} label={`${title} as a tree`} /> : <Raw text={text} label={title} />}
    </Card>
  );
}

function Raw({ text, label }: { text: string; label: string }) {
  if (text.length > MAX_INLINE_CHARS) {
    return <Editor label={`${label} as text`} language="json" value={text} readOnly height="65vh" />;
  }
  return <CodeBlock text={text} label={`Copy ${label}`} />;
}
