import { Page } from '../../ui/page.tsx';

export default function AppsAppPage() {
  return <Page title="apps">{null}</Page>;
}
