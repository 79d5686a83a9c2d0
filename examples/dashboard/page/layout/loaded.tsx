/** Parts of the page that are loaded later. */
import { Alert } from '@mantine/core';
import { type ComponentType, lazy } from 'react';

function NotLoaded() {
  return (
    <Alert color="orange" role="alert" title="This part of the page could not be loaded">
      The server of the dashboard does not answer, or was updated. Reload the page.
    </Alert>
  );
}

/** A component that is loaded when it is shown first. If it cannot be loaded, the rest of the page goes on. */
export function loadedLater<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => {
    const component = await load().catch(() => NotLoaded as ComponentType<P>);
    return { default: component };
  });
}
