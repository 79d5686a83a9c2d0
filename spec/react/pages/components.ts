/** One component for each hook. It notes what each render shows, and what is on the page. */
import {
  Component,
  createElement,
  type FunctionComponent,
  memo,
  type ReactNode,
  Suspense,
  useLayoutEffect,
  useMemo,
} from 'react';
import { type LiveQuery, type SharedInformer, toView } from 'rx-informer';
import {
  type EditResult,
  type ListResult,
  type StatusResult,
  useEdit,
  useInformer,
  useList,
  useObject,
  useQuery,
  useQueryStatus,
  useStatus,
  useSuspenseList,
  useSuspenseQuery,
  useView,
} from 'rx-informer/react';
import type { ConfigMap } from 'rx-informer/resources';
import { optionsOf, type Question, queryOf, resourceOf, scopeOf } from './questions.ts';

export const KINDS = [
  'list',
  'query',
  'keptQuery',
  'object',
  'view',
  'suspenseList',
  'suspenseQuery',
  'status',
  'queryStatus',
  'informerStatus',
  'edit',
] as const;
export type Kind = (typeof KINDS)[number];

/** What a render shows. */
export interface Shown {
  readonly question: Question;
  /** The provider's client and factory, as a number. */
  readonly env: number;
  readonly rows?: ListResult<object>;
  readonly status?: StatusResult;
  readonly edit?: EditResult<ConfigMap>;
}

/** A mounted component. */
export interface Slot {
  readonly id: number;
  readonly kind: Kind;
  readonly question: Question;
  /** Of an object: only this one. */
  readonly uid: string | undefined;
  readonly kept: LiveQuery;
  readonly env: number;
  readonly record: Recorded;
}

/** What a component has shown. */
export interface Recorded {
  /** Called in each render. */
  rendered(shown: Shown): void;
  /** On the page now; absent while a fallback is shown. */
  shown: Shown | undefined;
  failed: Error | undefined;
}

export function isSuspending(kind: Kind): boolean {
  return kind === 'suspenseList' || kind === 'suspenseQuery';
}

/** The question without what a component of this kind cannot ask. */
export function asAskedBy(kind: Kind, asked: Question): Question {
  const plain = { columns: 'all', where: false, order: 'none' } as const;
  const complete = { ...plain, limit: undefined, offset: undefined };
  const { namespace: given, name = 'x' } = asked;
  if (kind === 'object') {
    const namespace = typeof given === 'string' ? given : 'a';
    return { ...asked, ...complete, namespace, name, label: '' };
  }
  if (kind === 'view' || kind === 'informerStatus') return { ...asked, ...complete, as: undefined };
  return { ...asked, off: asked.off && !isSuspending(kind) };
}

/** Whether the component asks for objects. */
export function isReading({ kind, question }: Slot): boolean {
  return !question.off && kind !== 'status' && kind !== 'edit';
}

/** Whether the component, if there is one, shows what it was last asked for. */
export function isShown(slot: Slot | undefined): boolean {
  const { shown } = slot?.record ?? {};
  return shown?.question === slot?.question && shown?.env === slot?.env;
}

type Props = { readonly slot: Slot };

function useNoted({ slot }: Props, result: Omit<Shown, 'question' | 'env'>): null {
  const { question, env, record } = slot;
  const shown: Shown = { question, env, ...result };
  record.rendered(shown);
  useLayoutEffect(() => {
    record.shown = shown;
    return () => {
      if (record.shown === shown) record.shown = undefined;
    };
  });
  return null;
}

const askedOf = (question: Question) => (question.off ? undefined : resourceOf(question));
const rowsOf = (rows: unknown) => ({ rows: rows as ListResult<object> });

const hooks: Record<Kind, (props: Props) => null> = {
  list: (props) => {
    const { question } = props.slot;
    return useNoted(props, rowsOf(useList(askedOf(question), optionsOf(question) as never)));
  },
  query: (props) => {
    const { question } = props.slot;
    return useNoted(props, rowsOf(useQuery(question.off ? undefined : queryOf(question))));
  },
  keptQuery: (props) => {
    const { question, kept } = props.slot;
    return useNoted(props, rowsOf(useQuery(question.off ? undefined : kept)));
  },
  object: (props) => {
    const { question, uid } = props.slot;
    const { namespace = 'a', name = 'x', as } = question;
    const ref = { namespace: String(namespace), name, as, uid };
    const { object, ...rest } = useObject(askedOf(question), question.off ? undefined : ref);
    const rows = object === undefined ? [] : [object];
    return useNoted(props, rowsOf({ ...rest, rows, total: rows.length }));
  },
  view: (props) => {
    const { question } = props.slot;
    const informer = useInformer(askedOf(question), scopeOf(question));
    const view = useMemo(() => informer?.changes$.pipe(toView()), [informer]);
    return useNoted(props, rowsOf(useView(view)));
  },
  suspenseList: (props) => {
    const { question } = props.slot;
    const resource = resourceOf(question);
    return useNoted(props, rowsOf(useSuspenseList(resource, optionsOf(question) as never)));
  },
  suspenseQuery: (props) => {
    const { kept } = props.slot;
    return useNoted(props, rowsOf(useSuspenseQuery(kept)));
  },
  status: (props) => useNoted(props, { status: useStatus() }),
  queryStatus: (props) => {
    const { question, kept } = props.slot;
    return useNoted(props, { status: useQueryStatus(question.off ? undefined : kept) });
  },
  informerStatus: (props) => {
    const { question } = props.slot;
    const informer = useInformer(askedOf(question), scopeOf(question));
    const status = useStatus(informer as SharedInformer<ConfigMap> | undefined);
    return useNoted(props, { status });
  },
  edit: (props) => {
    return useNoted(props, { edit: useEdit(resourceOf(props.slot.question)) });
  },
};

/** Memoized, so that a component renders only for its own arguments, and for what its hook has noticed. */
const components = Object.fromEntries(
  KINDS.map((kind) => [kind, memo(hooks[kind])]),
) as unknown as Record<Kind, FunctionComponent<Props>>;

type BoundaryProps = { readonly record: Recorded; readonly children?: ReactNode };

class Boundary extends Component<BoundaryProps, { readonly failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true };
  }

  override componentDidCatch(error: Error): void {
    this.props.record.failed = error;
  }

  override render(): ReactNode {
    return this.state.failed ? null : this.props.children;
  }
}

/** The component of a slot. Another `attempt` leaves the error boundary. */
export function elementOf(slot: Slot, attempt: number): ReactNode {
  const { kind, id, record } = slot;
  const element = createElement(components[kind], { slot });
  if (!isSuspending(kind)) return createElement(components[kind], { key: id, slot });
  const suspended = createElement(Suspense, { fallback: null }, element);
  return createElement(Boundary, { key: `${id} ${attempt}`, record }, suspended);
}
