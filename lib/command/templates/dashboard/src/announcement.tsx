/** Tells screen readers what the user's choice has found: once for each choice, and not for each Pod that comes or goes. */
import { useState } from 'react';

export interface AnnouncementProps {
  /** A new choice is announced when its answer is complete. */
  readonly choice: string;
  readonly isComplete: boolean;
  readonly text: string;
}

export function Announcement({ choice, isComplete, text }: AnnouncementProps) {
  const [said, setSaid] = useState({ choice: '', text: '' });
  if (isComplete && said.choice !== choice) setSaid({ choice, text });
  return (
    <p role="status" className="heard">
      {said.text}
    </p>
  );
}
