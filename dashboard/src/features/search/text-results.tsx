import { lazy, Suspense } from 'react';
import { Loading } from '../../ui/loading.tsx';

const FoundTexts = lazy(() => import('./found-texts.tsx'));

/** What the service finds by a text that is no expression. It loads when somebody searches so. */
export function TextResults(props: { env: string; text: string }) {
  return (
    <Suspense fallback={<Loading />}>
      <FoundTexts {...props} />
    </Suspense>
  );
}
