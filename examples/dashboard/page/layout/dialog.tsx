/** A dialog over the page. */
import { CloseButton, Group, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** Closes a dialog without a choice: the keyboard continues where it was before. */
export function useLeave(onClose: () => void): () => void {
  const [before] = useState(() => document.activeElement);
  return () => {
    onClose();
    if (before instanceof HTMLElement) before.focus();
  };
}

export function Dialog(props: {
  readonly title: string;
  readonly closeLabel: string;
  readonly size?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { title, closeLabel, size = 'md', onClose, children } = props;
  return (
    // The page itself does not scroll.
    <Modal.Root opened onClose={onClose} size={size} lockScroll={false}>
      <Modal.Overlay />
      <Modal.Content>
        {/* The header of Mantine is a <header>, and the page has one. */}
        <Group justify="space-between" wrap="nowrap" p="md" pb={0}>
          <Modal.Title>{title}</Modal.Title>
          <CloseButton aria-label={closeLabel} onClick={onClose} />
        </Group>
        <Modal.Body pt="sm">{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
