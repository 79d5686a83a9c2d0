/** The header: the menu on a phone, the name of the cluster, the panels, and the switch between light and dark. */
import {
  ActionIcon,
  type ActionIconProps,
  Badge,
  Burger,
  Button,
  Group,
  Title,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { type ComponentProps, type ReactNode, Suspense } from 'react';
import type { DashboardInfo } from '../../shared/messages.ts';
import { user } from '../cluster/cluster.ts';
import { go } from '../cluster/page-state.ts';
import { usePage } from '../cluster/use-live.ts';
import { kindOf } from '../kinds/index.ts';
import { dialog$ } from './focus.ts';
import classes from './header.module.css';
import { GaugeIcon, KeyboardIcon, MoonIcon, SearchIcon, SunIcon, UnplugIcon } from './icons.tsx';
import { loadedLater } from './loaded.tsx';

const ContextMenu = loadedLater(async () => (await import('./context-menu.tsx')).ContextMenu);

function clusterWords({ context, cluster, namespace, readOnly }: DashboardInfo): string {
  const name = context ?? cluster;
  const where = namespace === undefined ? name : `${namespace} of ${name}`;
  return `${where} · ${readOnly ? 'read-only' : 'edits allowed'}`;
}

export function Header(props: {
  readonly info: DashboardInfo | undefined;
  readonly menuIsOpen: boolean;
  readonly onMenu: () => void;
}) {
  const { info, menuIsOpen, onMenu } = props;
  const page = usePage();
  return (
    <Group h="100%" gap="sm" justify="space-between" wrap="nowrap" className={classes.bar}>
      <Group gap="sm" wrap="nowrap" className={classes.left}>
        <Burger
          opened={menuIsOpen}
          onClick={onMenu}
          hiddenFrom="md"
          size="sm"
          aria-label={menuIsOpen ? 'Close the menu' : 'Open the menu of kinds and namespaces'}
        />
        <span className={classes.mark} />
        <Title order={1} className={classes.title}>
          {kindOf(page.kind).title}
        </Title>
        {info !== undefined && (
          <Badge variant="default" radius="sm" tt="none" fw={500} className={classes.cluster}>
            {clusterWords(info)}
          </Badge>
        )}
        {info?.hasContexts && (
          <Suspense>
            <ContextMenu current={info.context} />
          </Suspense>
        )}
      </Group>
      <Group gap="xs" wrap="nowrap" className={classes.right}>
        <IconButton label="Jump to a kind, a namespace or an object" onClick={open('jump')}>
          <SearchIcon />
        </IconButton>
        <IconButton label="Show the keys" visibleFrom="sm" onClick={open('keys')}>
          <KeyboardIcon />
        </IconButton>
        {user === undefined ? (
          <PanelButton panel="queries" label="Queries" icon={<GaugeIcon />} />
        ) : (
          <Button variant="default" size="xs" onClick={user.signOut} title="Sign out">
            {user.name} · Sign out
          </Button>
        )}
        {info?.embedded !== undefined && (
          <PanelButton panel="server" label="Demo server" icon={<UnplugIcon />} />
        )}
        <SchemeButton />
      </Group>
    </Group>
  );
}

const open = (dialog: 'jump' | 'keys') => () => dialog$.next(dialog);

function IconButton({ label, ...props }: ActionIconProps & ComponentProps<'button'> & Labelled) {
  return <ActionIcon variant="default" size="lg" aria-label={label} title={label} {...props} />;
}

interface Labelled {
  readonly label: string;
}

function PanelButton(props: Labelled & { readonly panel: string; readonly icon: ReactNode }) {
  const { panel, label, icon } = props;
  const isOpen = usePage().panel === panel;
  const shared = {
    variant: isOpen ? 'light' : 'default',
    'aria-pressed': isOpen,
    onClick: () => go({ panel: isOpen ? '' : panel }),
  };
  return (
    <>
      <Button {...shared} size="xs" leftSection={icon} visibleFrom="sm">
        {label}
      </Button>
      <IconButton {...shared} label={label} hiddenFrom="sm">
        {icon}
      </IconButton>
    </>
  );
}

function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <IconButton label={`Switch to ${other} colours`} onClick={() => setColorScheme(other)}>
      {scheme === 'dark' ? <SunIcon /> : <MoonIcon />}
    </IconButton>
  );
}
