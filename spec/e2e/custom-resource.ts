/** A custom resource for tests, whose definition is created and deleted while informers watch it. */
import { defineResource, type KubernetesObject, type Resource } from 'rx-informer';
import { eventually } from '../support/patience.ts';
import type { RawApi } from './raw-api.ts';

/** A custom object. */
export interface Widget extends KubernetesObject {
  spec?: { at?: string; text?: string };
}

const widgetsOf = (version: string): Resource<Widget> =>
  defineResource<Widget>({
    group: 'example.com',
    version,
    plural: 'widgets',
    kind: 'Widget',
    namespaced: true,
  });

/** The resource `widgets.example.com`. */
export const widgets: Resource<Widget> = widgetsOf('v1');

/** The resource in its next version. */
export const widgetsV2: Resource<Widget> = widgetsOf('v2');

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const name = 'widgets.example.com';

interface Definition {
  status?: { conditions?: { type: string; status: string }[] };
}

const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** A column that `kubectl get` prints beside the name. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
}

/** A version of the definition. */
export interface WidgetVersion {
  readonly name: string;
  /** @defaultValue true */
  readonly served?: boolean;
}

/** The versions in the format of the definition. The last version is the stored one. */
function versionsOf(
  versions: readonly WidgetVersion[],
  additionalPrinterColumns: readonly PrinterColumn[],
): readonly object[] {
  return versions.map(({ name, served = true }, at) => ({
    name,
    served,
    storage: at === versions.length - 1,
    additionalPrinterColumns,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: any } } },
  }));
}

/** Replaces the versions of the existing definition. */
export async function changeWidgets(
  api: RawApi,
  versions: readonly WidgetVersion[],
): Promise<void> {
  const body = { spec: { versions: versionsOf(versions, []) } };
  await api.ok('PATCH', `${definitions}/${name}`, { body });
}

/** Creates the definition and waits until the server reports it as established. */
export async function establishWidgets(
  api: RawApi,
  additionalPrinterColumns: readonly PrinterColumn[] = [],
  versions: readonly WidgetVersion[] = [{ name: widgets.version }],
): Promise<void> {
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: widgets.group,
      scope: 'Namespaced',
      names: { plural: widgets.plural, singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: versionsOf(versions, additionalPrinterColumns),
    },
  };
  await api.ok('POST', definitions, { body });
  const established = async () => {
    const { status } = await api.ok<Definition>('GET', `${definitions}/${name}`);
    const conditions = status?.conditions ?? [];
    if (!conditions.some(({ type, status }) => type === 'Established' && status === 'True')) {
      throw new Error(`${name} is not established: ${JSON.stringify(conditions)}`);
    }
  };
  await eventually(established);
}

/** Deletes the definition and waits until it and all its objects are deleted. */
export async function removeWidgets(api: RawApi): Promise<void> {
  await api.ok('DELETE', `${definitions}/${name}`);
  const gone = async () => {
    const { status } = await api.call('GET', `${definitions}/${name}`);
    if (status !== 404) throw new Error(`${name} is still there: ${status}`);
  };
  await eventually(gone);
}
