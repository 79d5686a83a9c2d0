/**
 * Runs steps one after another. A step that is added while another one runs waits for it to return, so that a chain of
 * steps that complete synchronously does not nest: a long chain would overflow the stack.
 */
export function oneAfterAnother(goesOn: () => boolean): (step: () => void) => void {
  let next: (() => void) | undefined;
  let running = false;
  return (step) => {
    next = step;
    if (running) return;
    running = true;
    while (next !== undefined && goesOn()) {
      const now = next;
      next = undefined;
      now();
    }
    running = false;
  };
}
