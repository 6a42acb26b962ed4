import { useState } from 'react';
import { IconButton } from './button.tsx';

interface CodeBlockProps {
  text: string;
  /** Shown instead of the text that is copied: without its secrets. */
  shown?: string | undefined;
  label?: string;
  wrap?: boolean;
}

/** Preformatted text with a copy button next to it, so that the button does not cover the text. */
export function CodeBlock({ text, shown = text, label = 'Copy', wrap = true }: CodeBlockProps) {
  return (
    <div className="flex items-start rounded-md border border-line bg-sunken">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className={`max-h-96 min-w-0 flex-1 overflow-auto p-3 font-mono text-xs leading-relaxed ${wrap ? 'break-all whitespace-pre-wrap' : 'whitespace-pre'}`}
      >
        {shown}
      </pre>
      <div className="shrink-0 p-1">
        <CopyButton text={text} label={label} />
      </div>
    </div>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <>
      <IconButton icon={copied ? 'check' : 'copy'} label={label} onClick={() => void copy()} />
      <span role="status" className="sr-only">
        {copied ? 'Copied' : ''}
      </span>
    </>
  );
}

/** An ID, shortened; the full ID is in the tooltip. */
export function Id({ id, maxChars = 26 }: { id: string; maxChars?: number }) {
  return (
    <span title={id} className="font-mono text-xs whitespace-nowrap">
      {id.length > maxChars ? `${id.slice(0, 6)}…${id.slice(-(maxChars - 7))}` : id}
    </span>
  );
}
