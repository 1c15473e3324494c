// Making elements without markup: whatever a notification says is text, never HTML.

type Props = Readonly<Record<string, string | boolean | ((event: Event) => void) | undefined>>
type Child = Node | string | undefined

/** Functions are listeners, true is an empty attribute; false and undefined are left out. */
export function h(tag: string, props: Props = {}, ...children: readonly Child[]): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

const paths = {
  bell: 'M6 9a6 6 0 0 1 12 0c0 6 2.5 7 2.5 7h-17S6 15 6 9M10 20a2.2 2.2 0 0 0 4 0',
  sliders: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5',
  checks: 'M2 12.5l4.5 4.5L15 7.5M11 16l1 1 9.5-9.5',
  check: 'M4 12.5l5 5L20 6.5',
  dot: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8',
  archive: 'M3 5h18v4H3zM5 9v10h14V9M10 13h4',
  inbox: 'M3 13l3-8h12l3 8v6H3zM3 13h5l1.5 3h5l1.5-3h5',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 7v5l3 2',
  bin: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6',
  back: 'M15 5l-7 7 7 7',
} as const

export type Icon = keyof typeof paths

export function icon(name: Icon): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', paths[name])
  svg.append(path)
  return svg
}

/** A button that shows an icon only: its name is for screen readers and for a pointer that rests on it. */
export const iconButton = (name: Icon, label: string, click: () => void): HTMLElement =>
  h('button', { type: 'button', class: 'icon', 'aria-label': label, title: label, click }, icon(name))

/** `**bold**` and `*italic*`; everything else as it stands. */
export function marked(text: string): Node[] {
  return text.split(/(\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).map((part) => {
    const [, stars = '', inner = ''] = /^(\*\*?)(.+)\1$/s.exec(part) ?? []
    if (stars === '') return document.createTextNode(part)
    return h(stars === '**' ? 'strong' : 'em', {}, inner)
  })
}

/** Makes the children exactly these, in this order, without touching those that stay: one that has the focus keeps it. */
export function setChildren(parent: Element, wanted: readonly Element[]): void {
  const keep = new Set(wanted)
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove()
  for (const [index, child] of wanted.entries()) {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null)
  }
}
