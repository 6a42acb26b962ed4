import { lazy, Suspense } from 'react';
import type { EditorProps } from './editor-props.ts';
import { Loading } from './loading.tsx';

const CodeMirror = lazy(() => import('./code-mirror.tsx'));

/** A code editor. Its code is loaded when one is first shown. */
export function Editor(props: EditorProps) {
  return (
    <Suspense fallback={<Loading rows={5} />}>
      <CodeMirror {...props} />
    </Suspense>
  );
}
