import { useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { parseExact, stringifyExact } from '../../../lib/exact-json.ts';
import { Button } from '../../../ui/button.tsx';
import { Editor } from '../../../ui/editor.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { PasteDialog } from './paste-dialog.tsx';
import { contentTypeOf, headerLines, parseHeaderLines, parseQuery, type Sample } from './sample.ts';
import { SamplePicker } from './sample-picker.tsx';
import type { SampleState } from './use-sample.ts';

type Part = 'body' | 'headers' | 'query';

/** The request that the transform runs on: selected or pasted, and editable. */
export function SampleCard({ webhook, sampleState }: { webhook: Webhook; sampleState: SampleState }) {
  const [part, setPart] = useState<Part>('body');
  const [pasting, setPasting] = useState(false);
  const { sample, loading, error } = sampleState;
  const parts = [
    ['body', 'Body'],
    ['headers', `Headers (${Object.keys(sample.headers).length})`],
    ['query', `Query (${Object.keys(parseQuery(sample.query)).length})`],
  ] as const;
  return (
    <Card
      title="Sample request"
      actions={
        <Button icon="copy" onClick={() => setPasting(true)}>
          Paste request
        </Button>
      }
    >
      <div className="space-y-3 p-3">
        <SamplePicker webhook={webhook} sampleState={sampleState} />
        <div className="flex flex-wrap items-center justify-between gap-2">
          <SegmentedControl label="Part of the sample" options={parts} value={part} onChange={setPart} />
          {part === 'body' && <Format sample={sample} edit={sampleState.edit} />}
        </div>
        {error && <ErrorAlert error={error} />}
        {loading ? <Loading rows={8} /> : <PartEditor part={part} sample={sample} edit={sampleState.edit} />}
      </div>
      <PasteDialog open={pasting} onClose={() => setPasting(false)} onPaste={sampleState.paste} />
    </Card>
  );
}

const ONE_LINE_OF_JSON = /^\s*[{[][^\n]+$/;

/** Pretty-prints one-line JSON. The bytes then differ from the signed ones. */
function Format({ sample: { body }, edit }: { sample: Sample; edit: SampleState['edit'] }) {
  if (!ONE_LINE_OF_JSON.test(body)) return null;
  return (
    <Button variant="ghost" onClick={() => edit({ body: indented(body) })}>
      Format
    </Button>
  );
}

function indented(body: string): string {
  try {
    return stringifyExact(parseExact(body), 2);
  } catch {
    return body;
  }
}

function PartEditor({ part, sample, edit }: { part: Part; sample: Sample; edit: SampleState['edit'] }) {
  if (part === 'headers') return <Headers headers={sample.headers} onChange={(headers) => edit({ headers })} />;
  if (part === 'query') {
    return (
      <TextField
        label="Query string"
        className="font-mono text-sm"
        placeholder="source=github&x-service-env=my-branch"
        hint="The part of the URL after the question mark. Keys may repeat."
        spellCheck={false}
        value={sample.query}
        onChange={({ target }) => edit({ query: target.value.replace(/^\?/, '') })}
      />
    );
  }
  const isForm = contentTypeOf(sample) === 'application/x-www-form-urlencoded';
  return (
    <Editor
      label="Sample body"
      language={isForm ? 'text' : 'json'}
      value={sample.body}
      onChange={(body) => edit({ body })}
      height="20rem"
    />
  );
}

/** Keeps the text as typed; the sample gets the parsed headers. */
function Headers({
  headers,
  onChange,
}: {
  headers: Record<string, string>;
  onChange(headers: Record<string, string>): void;
}) {
  const [lines, setLines] = useState(() => headerLines(headers));
  const [parsed, setParsed] = useState(headers);
  if (parsed !== headers) {
    setParsed(headers);
    if (headerLines(parseHeaderLines(lines)) !== headerLines(headers)) setLines(headerLines(headers));
  }
  return (
    <TextArea
      label="Headers"
      hint="One per line, Name: value. The transform sees canonical names, such as X-Github-Event."
      className="h-72"
      spellCheck={false}
      value={lines}
      onChange={({ target }) => {
        setLines(target.value);
        onChange(parseHeaderLines(target.value));
      }}
    />
  );
}
