import { lazy, Suspense } from 'react';
import type { EditorProps } from './editor-props.ts';
import { Loading } from './loading.tsx';

const CodeMirror = lazy(() => import('./code-mirror.tsx'));

/** A code editor, loaded when the first one is shown. */
export function Editor(props: EditorProps) {
  return (
    <Suspense fallback={<Loading rows={5} />}>
      <CodeMirror {...props} />
    </Suspense>
  );
}
