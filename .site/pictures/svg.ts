/** Draws SVG as text that a page of Markdown can contain. The colors come from style.css, so that they follow the theme. */

/** A place in the picture. */
export type Point = readonly [x: number, y: number];

export interface Graph {
  /** Names the markers in the page. */
  readonly name: string;
  /** What the picture shows, for readers who do not see it. */
  readonly label: string;
  readonly width: number;
  readonly height: number;
  readonly nodes: Readonly<Record<string, Point>>;
  readonly arrows: readonly { readonly from: string; readonly to: string }[];
}

const NODE: Point = [104, 36];

/** The text of a picture. Without an empty line, because that would end the element in Markdown. */
export function figure(label: string, [width, height]: Point, shapes: readonly string[]): string {
  const open = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}" style="max-width: ${width}px">`;
  return ['<figure class="picture">', open, ...shapes, '</svg>', '</figure>'].join('\n');
}

/** A box with a text in its middle. */
export function box([x, y]: Point, [width, height]: Point, text: string): string {
  const rect = `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="6" />`;
  return `${rect}<text x="${x}" y="${y + 5}">${text}</text>`;
}

/** Where the line from a point to the middle of a box enters it. */
function edgeOf([fromX, fromY]: Point, [x, y]: Point, [width, height]: Point): Point {
  const [dx, dy] = [fromX - x, fromY - y];
  const scale = Math.min(width / 2 / Math.abs(dx || 1e-9), height / 2 / Math.abs(dy || 1e-9));
  return [Math.round(x + dx * scale), Math.round(y + dy * scale)];
}

/** A line between two boxes, with a head at its end, and at its beginning if the way leads back, too. */
function arrow(from: Point, to: Point, both: boolean, marker: string): string {
  const around: Point = [NODE[0] + 10, NODE[1] + 10];
  const [startX, startY] = edgeOf(to, from, both ? around : NODE);
  const [endX, endY] = edgeOf(from, to, around);
  const back = both ? ` marker-start="url(#${marker})"` : '';
  return `<path d="M${startX} ${startY}L${endX} ${endY}" marker-end="url(#${marker})"${back} />`;
}

/** Draws boxes and arrows. Throws if an arrow has an end without a place. */
export function graph({ name, label, width, height, nodes, arrows }: Graph): string {
  const marker = `arrow-${name}`;
  const placeOf = (node: string): Point => {
    const place = nodes[node];
    if (place === undefined)
      throw new Error(`The picture ${name} has no place for ${node}: add one.`);
    return place;
  };
  const leads = (one: string, other: string) =>
    arrows.some(({ from, to }) => from === one && to === other);
  return figure(
    label,
    [width, height],
    [
      `<defs><marker id="${marker}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" /></marker></defs>`,
      ...arrows
        .filter(({ from, to }) => from < to || !leads(to, from))
        .map(({ from, to }) => arrow(placeOf(from), placeOf(to), leads(to, from), marker)),
      ...Object.entries(nodes).map(([node, place]) => box(place, NODE, node)),
    ],
  );
}
