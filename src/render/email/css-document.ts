// What inlining CSS depends on in a document: its style sheets, the styles that elements have, and how many there are of what.

/** As domhandler returns it. */
export interface DocumentNode {
  readonly name?: string
  readonly data?: string
  readonly attribs?: Readonly<Record<string, string>>
  readonly children?: readonly DocumentNode[]
  readonly childNodes?: readonly DocumentNode[]
}

export interface ElementCounts {
  readonly elements: number
  /** The most siblings. */
  readonly siblings: number
  readonly depth: number
  /** Elements and texts that are in no element. */
  readonly outermost: number
  /** <style> elements, inlined or not. */
  readonly sheets: number
  /** Of names of elements, of `.class` and `#id`, in lower case. */
  readonly names: ReadonlyMap<string, number>
  /** Characters of all classes and ids. */
  readonly nameLength: number
  /** Characters of all attributes. */
  readonly attributesLength: number
}

export interface StyledDocument {
  readonly counts: ElementCounts
  /** Of those <style> elements that are inlined. */
  readonly css: string
  readonly ownStyles: readonly string[]
}

export function styledDocument(root: DocumentNode): StyledDocument {
  const names = new Map<string, number>()
  const count = (name: string): void => void names.set(name, (names.get(name) ?? 0) + 1)
  const sheets: string[] = []
  const ownStyles: string[] = []
  let [elements, siblings, depth, nameLength, attributesLength] = [0, 0, 0, 0, 0]
  let level: readonly DocumentNode[] = root.children ?? []
  siblings = level.length
  // Level by level: documents may be deeper than the call stack.
  for (; level.length > 0; depth += 1) {
    const next: DocumentNode[] = []
    for (const { name, attribs, children = [] } of level) {
      if (name === undefined || attribs === undefined) continue
      elements += 1
      siblings = Math.max(siblings, children.length)
      for (const child of children) next.push(child)
      count(name.toLowerCase())
      for (const value of Object.values(attribs)) attributesLength += value.length
      const { class: classes = '', id = '', style = '' } = attribs
      nameLength += classes.length + id.length
      for (const one of new Set(classes.toLowerCase().split(/\s+/))) count(`.${one}`)
      if (id !== '') count(`#${id.toLowerCase()}`)
      if (style !== '') ownStyles.push(style)
      if (name.toLowerCase() === 'style') sheets.push(...sheetOf(attribs, children))
    }
    level = next
  }
  const outermost = root.children?.length ?? 0
  const counts = {
    elements,
    siblings,
    depth,
    outermost,
    sheets: names.get('style') ?? 0,
    names,
    nameLength,
    attributesLength,
  }
  return { counts, css: sheets.join('\n'), ownStyles }
}

/** As the inliner chooses. */
function sheetOf(attributes: Readonly<Record<string, string>>, children: readonly DocumentNode[]): string[] {
  const [only, ...more] = children
  return only === undefined || more.length > 0 || attributes['data-embed'] !== undefined ? [] : [only.data ?? '']
}
