/** The messages of a pull that fails because the registry does not have the image, as the kubelet writes them. */

/** The error of the container runtime, which the status has after an attempt. */
export function pullError(image: string): string {
  return `rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
}

/** The message of the event BackOff, which does not repeat the error. */
export function backOffEvent(image: string): string {
  return `Back-off pulling image "${image}"`;
}

/** The message that the status has between two attempts. */
export function backOffError(image: string): string {
  return `${backOffEvent(image)}: ErrImagePull: ${pullError(image)}`;
}
