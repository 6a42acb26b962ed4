import { Page } from '../../ui/page.tsx';

export default function FunctionsFunctionPage() {
  return <Page title="functions">{null}</Page>;
}
