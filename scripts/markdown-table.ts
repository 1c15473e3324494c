// A table of Markdown.

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |\n`
  return `${line(heads)}|${'---|'.repeat(heads.length)}\n${rows.map(line).join('')}`
}

/** A bar would end the cell, a line break the table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
