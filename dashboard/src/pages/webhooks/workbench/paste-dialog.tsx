import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { parseRequest } from './parse-request.ts';
import { parseQuery, type Sample } from './sample.ts';

interface PasteDialogProps {
  open: boolean;
  onClose(): void;
  onPaste(sample: Sample): void;
}

/** Accepts a payload, an HTTP request or a curl command, and shows how it was read. */
export function PasteDialog({ open, onClose, onPaste }: PasteDialogProps) {
  const [text, setText] = useState('');
  const empty = text.trim() === '';
  const use = () => {
    onPaste(parseRequest(text).sample);
    setText('');
    onClose();
  };
  return (
    <Dialog
      open={open}
      title="Paste request"
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" disabled={empty} onClick={use}>
            Use request
          </Button>
        </>
      }
    >
      <TextArea
        label="Request"
        hint="A request body, an HTTP request with headers, or a curl command."
        className="h-80"
        autoFocus
        spellCheck={false}
        placeholder={'POST /e/…?source=github HTTP/1.1\nX-GitHub-Event: push\n\n{"ref": "refs/heads/main"}'}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <p role="status" className="mt-3 text-sm text-muted">
        {empty ? '' : summary(text)}
      </p>
    </Dialog>
  );
}

function summary(text: string): string {
  const { kind, sample } = parseRequest(text);
  const headers = Object.keys(sample.headers).length;
  const query = Object.keys(parseQuery(sample.query)).length;
  return `Detected ${kind}: ${sample.body.length.toLocaleString()} characters of body, ${headers} headers, ${query} query parameters.`;
}
