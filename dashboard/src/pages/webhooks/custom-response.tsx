import { CodeBlock } from '../../ui/code-block.tsx';

interface Response {
  status: number;
  headers: Record<string, string>;
  /** null: it is too large to be shown. */
  body: string | null;
}

/** The response that the transform gives the provider. */
export function CustomResponse({ response }: { response: Response }) {
  const { status, headers, body } = response;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <section aria-label="Response to the provider">
      <h3 className="mb-1 text-xs font-medium text-muted">Response to the provider</h3>
      <CodeBlock
        text={[String(status), ...lines, '', body ?? '(a large body)'].join('\n').trimEnd()}
        label="Copy response"
      />
    </section>
  );
}
