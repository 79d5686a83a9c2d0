/** The header: the title, the name of the cluster, and the switch between light and dark. */
import {
  ActionIcon,
  Badge,
  Group,
  Text,
  Title,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import classes from './header.module.css';
import { MoonIcon, SunIcon } from './icons.tsx';

export function Header({ cluster }: { readonly cluster: string | undefined }) {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <Group h="100%" px="md" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap">
        <svg className={classes.mark} viewBox="0 0 32 32" aria-hidden="true">
          <circle cx="16" cy="16" r="2.6" />
          <path d="M10.6 21.4a7.6 7.6 0 0 1 0-10.8M21.4 10.6a7.6 7.6 0 0 1 0 10.8" />
          <path
            className={classes.faint}
            d="M6.6 25.4a13.3 13.3 0 0 1 0-18.8M25.4 6.6a13.3 13.3 0 0 1 0 18.8"
          />
        </svg>
        <Title order={1} className={classes.title}>
          Pods
        </Title>
        {cluster !== undefined && (
          <Badge variant="default" radius="sm" tt="none" fw={500} className={classes.cluster}>
            {cluster}
          </Badge>
        )}
      </Group>
      <Group gap="md" wrap="nowrap">
        <Text size="xs" c="dimmed" visibleFrom="sm">
          rx-informer runs in this page
        </Text>
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={`Switch to ${other} colours`}
          onClick={() => setColorScheme(other)}
        >
          {scheme === 'dark' ? <SunIcon /> : <MoonIcon />}
        </ActionIcon>
      </Group>
    </Group>
  );
}
