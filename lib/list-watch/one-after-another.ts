/**
 * Runs steps one after another while `mayContinue` returns true. A step that is added while another step runs waits
 * until that step returns, so that a chain of steps that complete synchronously does not recurse. A long chain would
 * overflow the stack.
 */
export function oneAfterAnother(mayContinue: () => boolean): (step: () => void) => void {
  let next: (() => void) | undefined;
  let running = false;
  return (step) => {
    next = step;
    if (running) return;
    running = true;
    while (next !== undefined && mayContinue()) {
      const now = next;
      next = undefined;
      now();
    }
    running = false;
  };
}
