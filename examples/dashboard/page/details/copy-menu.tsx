/** Copies the name of an object, or a line of kubectl. */
import { ActionIcon, Menu, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { KubernetesObject } from 'rx-informer';
import type { Deployment, Pod, Service } from 'rx-informer/resources';
import { CheckIcon, CopyIcon } from '../layout/icons.tsx';
import classes from './details.module.css';
import type { Copied, Ports } from './kubectl.ts';

/** The port of a Pod, a workload or a Service, and the container that a shell begins in. */
export function portsOf(object: KubernetesObject | undefined): Ports {
  const { template } = (object as Deployment | undefined)?.spec ?? {};
  const ofPods = { ...template?.spec, ...(object as Pod | undefined)?.spec };
  const { containers, ports } = { ...ofPods, ...servicePorts(object) };
  const [first] = containers ?? [];
  const port = ports?.[0]?.port ?? first?.ports?.[0]?.containerPort;
  return { port, container: first?.name };
}

const servicePorts = (object: KubernetesObject | undefined) => {
  const { ports } = (object as Service | undefined)?.spec ?? {};
  return { ports };
};

export function CopyMenu({ copies }: { readonly copies: readonly Copied[] }) {
  const { copied, copy } = useClipboard();
  return (
    <Menu
      position="bottom-end"
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      width={320}
    >
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Copy a name or a command"
          title="Copy"
        >
          {copied ? <CheckIcon /> : <CopyIcon />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {copies.map(({ label, text }) => (
          <Menu.Item key={label} onClick={() => copy(text)}>
            {label}
            <Text size="xs" truncate maw={290} className={classes.quiet} title={text}>
              {text}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
