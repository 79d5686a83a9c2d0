/**
 * Asks the server to leave `metadata.managedFields` out of lists and watches (KEP-5958), because they are up to a half
 * of an object. A server that does not know the parameter ignores it, and the decoder then removes the fields.
 */
import { defer, type Observable } from 'rxjs';
import { catchError, tap } from 'rxjs/operators';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import type { ServerFindings } from './server-findings.ts';

const JSON_TYPE = 'application/json';
const DROP = ';drop=metadata.managedFields';

/** The representations that a request accepts. */
export interface Accepted {
  /** The kind of a projection: `Table`, `PartialObjectMetadata` or its list. Absent: complete objects. */
  readonly as?: string | undefined;
  /** Whether complete objects are accepted, too, if the server does not know the projection. */
  readonly orComplete?: boolean | undefined;
  readonly keepManagedFields: boolean;
}

/**
 * Returns the value of the header `Accept`, shorter than the 128 bytes up to which a request to another origin needs no
 * preflight for it. `undefined` means the default of the client. A server that does not know the value of `drop` finds
 * the media type not acceptable, so the plain one follows, but not for a projection: a server that sends complete
 * objects instead would have to be refused.
 */
export function acceptHeader({ as, orComplete, keepManagedFields }: Accepted): string | undefined {
  if (as === undefined) return keepManagedFields ? undefined : `${JSON_TYPE}${DROP}, ${JSON_TYPE}`;
  const type = `${JSON_TYPE};as=${as};g=meta.k8s.io;v=v1${keepManagedFields ? '' : DROP}`;
  return orComplete === true ? `${type}, ${JSON_TYPE}` : type;
}

function withAccept(request: TransportRequest, accepted: Accepted): TransportRequest {
  const accept = acceptHeader(accepted);
  return accept === undefined ? request : { ...request, headers: { ...request.headers, accept } };
}

/** Thrown to send the request again; never seen outside. */
const REFUSAL = {};

/** Whether the server does not accept the header: 406 Not Acceptable, or 415 Unsupported Media Type. */
function isRefusal(event: TransportEvent): boolean {
  return event.kind === 'head' && (event.status === 406 || event.status === 415);
}

/**
 * Sends a request, without `managedFields` unless they are kept. If the server refuses the header, the request is sent
 * again without the parameter, and later requests of the client do not contain it. The refused response is not emitted.
 */
export function sendAccepting(
  client: Pick<KubeClient, 'send'>,
  findings: ServerFindings,
  request: TransportRequest,
  accepted: Accepted,
): Observable<TransportEvent> {
  const whole = () => client.send(withAccept(request, { ...accepted, keepManagedFields: true }));
  return defer(() => {
    if (accepted.keepManagedFields || findings.refusesDrop) return whole();
    return client.send(withAccept(request, accepted)).pipe(
      // Events pass here as they are, because a chunk may be a single event of a watch.
      tap((event) => {
        if (isRefusal(event)) throw REFUSAL;
      }),
      catchError((error: unknown) => {
        if (error !== REFUSAL) throw error;
        findings.refusesDrop = true;
        return whole();
      }),
    );
  });
}
