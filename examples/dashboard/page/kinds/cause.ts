/** Shortens the reason of a trouble for a column: the cause comes first, and what precedes it in the message is left out. */

/** A reason that was rolled up from the pods of a workload. */
const ROLLED_UP = /^(\d+ of \d+ Pods?: .+?) — (.+)$/s;

/** What the kubelet and the container runtime write before the error of the registry. */
const BEFORE_PULL_ERROR =
  /^(?:Error: |Back-off pulling image "[^"]*": |Failed to pull image "[^"]*": |ErrImagePull: |rpc error: code = \w+ desc = |failed to pull and unpack image "[^"]*": |failed to resolve reference "[^"]*": )+/;

/** The end of an image: `web:v2` of `registry.example/shop/web:v2`. */
export function shortImage(image: string): string {
  return image.slice(image.lastIndexOf('/') + 1).replace(/(@sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1');
}

function pullCause(text: string): string {
  const image = /image "([^"]+)"/.exec(text)?.[1];
  const error = text.replace(BEFORE_PULL_ERROR, '');
  if (image === undefined || error === text) return text;
  const reason = error.startsWith(`${image}: `) ? error.slice(image.length + 2) : error;
  return reason.includes(image) ? reason : `${reason}: ${shortImage(image)}`;
}

/** Why no node has room, without the number of nodes and without the outcome of the preemption. */
function schedulingCause(text: string): string {
  return text
    .replace(/^0\/\d+ nodes are available: /, '')
    .replace(/\.?\s*(?:no new claims to deallocate, )?preemption: [^—]*(?= —|$)/s, '')
    .replace(/\.(?= —|$)/, '');
}

/** What the API server and the controller of an autoscaler write before the cause. */
const WEBHOOK =
  /^Internal error occurred: failed calling webhook "([^"]+)": (?:failed to call webhook: )?(?:Post "[^"]*": )?(.+)$/s;
const BEFORE_METRIC_ERROR =
  /^the HPA was unable to compute the replica count: |^invalid metrics \(.*?\), first error is: /g;

/** The cause of a trouble. The complete text stays in the tooltip and in the details. */
export function causeOf(why: string): string {
  const [, pods, reason] = ROLLED_UP.exec(why) ?? [];
  if (pods !== undefined && reason !== undefined) return `${causeOf(reason)} (${pods})`;
  if (/^0\/\d+ nodes are available: /.test(why)) return schedulingCause(why);
  if (BEFORE_PULL_ERROR.test(why)) return pullCause(why);
  const [, webhook, error] = WEBHOOK.exec(why) ?? [];
  if (webhook !== undefined) return `the webhook ${webhook} does not answer: ${error}`;
  return why
    .replace(BEFORE_METRIC_ERROR, '')
    .replace(/^(?:Error creating: )?pods "[^"]*" is forbidden: /, '');
}
