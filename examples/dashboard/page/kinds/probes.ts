/** The probes of a container in words: `GET :8080/healthz every 10 s, 3 failures`. */
import type { Container, Pod, Probe } from 'rx-informer/resources';
import { counted } from '../../shared/words.ts';

/** Said of a port that is a mistake, most probably. */
const FOREIGN_PORT = "is not among the container's ports";

type Ports = NonNullable<Container['ports']>;

/** The number of a port. A name that no port has stays. */
function numberOf(port: string | number, ports: Ports): string | number {
  return ports.find(({ name }) => name === port)?.containerPort ?? port;
}

function requestOf({ httpGet, tcpSocket, grpc, exec }: Probe, ports: Ports): string {
  if (httpGet) {
    const { scheme = 'HTTP', host = '', port, path = '/' } = httpGet;
    const protocol = scheme === 'HTTP' && host === '' ? '' : `${scheme.toLowerCase()}://`;
    return `GET ${protocol}${host}:${numberOf(port, ports)}${path}`;
  }
  if (tcpSocket) return `TCP ${tcpSocket.host ?? ''}:${numberOf(tcpSocket.port, ports)}`;
  if (grpc) return `gRPC :${grpc.port}${grpc.service ? `/${grpc.service}` : ''}`;
  return `command ${exec?.command?.join(' ') ?? ''}`;
}

/** Says that the container does not declare the port of a probe, which is a frequent mistake. */
function foreignPort({ httpGet, tcpSocket, grpc }: Probe, ports: Ports): string {
  const port = (httpGet ?? tcpSocket ?? grpc)?.port;
  const host = (httpGet ?? tcpSocket)?.host ?? '';
  // A container need not declare its ports, and a probe may ask another host.
  if (port === undefined || host !== '' || ports.length === 0) return '';
  if (ports.some(({ name, containerPort }) => port === containerPort || port === name)) return '';
  const declared = ports.map(({ containerPort }) => containerPort).join(', ');
  return ` — port ${port} ${FOREIGN_PORT} (${declared})`;
}

function probeText(probe: Probe | undefined, ports: Ports = []): string {
  if (probe === undefined) return '';
  const { periodSeconds = 10, failureThreshold: failures = 3 } = probe;
  const limit = counted(failures, 'failure');
  return `${requestOf(probe, ports)} every ${periodSeconds} s, ${limit}${foreignPort(probe, ports)}`;
}

/** The probes of a container; the text of an absent one is empty. */
export function probesOf(container: Container): Readonly<Record<string, string>> {
  const { ports, livenessProbe, readinessProbe, startupProbe } = container;
  return {
    'Startup probe': probeText(startupProbe, ports),
    'Liveness probe': probeText(livenessProbe, ports),
    'Readiness probe': probeText(readinessProbe, ports),
  };
}

/** Probes of a port that their container does not declare, of containers that are not ready. */
export function foreignProbes({ spec, status }: Pod) {
  const unready = (status?.containerStatuses ?? []).filter(({ ready }) => !ready);
  const containers = spec?.containers?.filter(({ name }) =>
    unready.some((each) => each.name === name),
  );
  return (containers ?? []).flatMap((container) =>
    Object.entries(probesOf(container))
      .filter(([, text]) => text.includes(FOREIGN_PORT))
      .map(([probe, text]) => ({ title: `${probe} of ${container.name}`, text })),
  );
}
