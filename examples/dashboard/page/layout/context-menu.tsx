/** The choice of another context of the kubeconfig, for all pages of the dashboard. */
import { ActionIcon, Menu, Text } from '@mantine/core';
import { useFetch } from '@mantine/hooks';
import { useState } from 'react';
import type { ContextList } from '../../shared/messages.ts';
import { page$ } from '../cluster/page-state.ts';
import { post } from '../cluster/post.ts';
import { CheckIcon, DownIcon } from './icons.tsx';

async function choose(context: string): Promise<string> {
  const answer = await post('/dashboard/context', { context });
  if (!answer.ok) return await answer.text();
  // Its objects and namespaces are others.
  const { kind } = page$.value;
  location.assign(`${location.pathname}${kind === 'pods' ? '' : `?kind=${kind}`}`);
  return '';
}

export function ContextMenu({ current }: { readonly current: string | undefined }) {
  const { data, refetch } = useFetch<ContextList>('/dashboard/contexts', { autoInvoke: false });
  const [chosen, setChosen] = useState<string>();
  const [problem, setProblem] = useState('');
  const onChoice = async (context: string) => {
    setChosen(context);
    setProblem(await choose(context).catch(String));
    setChosen(undefined);
  };
  return (
    <Menu
      position="bottom-start"
      withInitialFocusPlaceholder={false}
      closeOnItemClick={false}
      width={280}
      onOpen={() => void refetch()}
    >
      <Menu.Target>
        <ActionIcon
          variant="default"
          loading={chosen !== undefined}
          aria-label="Choose another context"
          title="Choose another context"
        >
          <DownIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Contexts of the kubeconfig</Menu.Label>
        {data?.contexts.map((name) => (
          <Menu.Item
            key={name}
            rightSection={name === current && <CheckIcon size={14} />}
            aria-current={name === current}
            fw={name === current ? 600 : 400}
            disabled={chosen !== undefined}
            onClick={() => name !== current && void onChoice(name)}
          >
            {name}
          </Menu.Item>
        ))}
        {problem !== '' && (
          <Text size="xs" c="var(--bad)" p="xs" role="alert">
            {problem}
          </Text>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
