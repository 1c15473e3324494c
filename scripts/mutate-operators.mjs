// The small mistakes that scripts/mutate.mjs makes on purpose, each in one place of a compiled file.

/** What is looked for, what stands there instead, and where: in programs, in statements of SQL, or in both. */
const operators = [
  { name: 'comparison', of: /(?<=[\w)\]}'"]) (<=|>=|<|>) (?=[\w($'"-])/g, becomes: flipComparison },
  { name: 'equality', of: / (===|!==) /g, becomes: (text) => (text === ' === ' ? ' !== ' : ' === ') },
  { name: 'and-or', of: / (&&|\|\|) /g, becomes: (text) => (text === ' && ' ? ' || ' : ' && ') },
  { name: 'sum', of: /(?<=\w|\)) ([+-]) (?=[\w(])/g, becomes: (text) => (text === ' + ' ? ' - ' : ' + ') },
  { name: 'boolean', of: /(?<=[\s(:])(true|false)(?=[\s;,)])/g, becomes: (text) => String(text !== 'true') },
  { name: 'number', of: /(?<=[\s(=[])\d[\d_]*(?=[\s;,)\]])/g, becomes: otherNumber },
  { name: 'no await', of: /\bawait (?=[\w.]+\()/g, becomes: () => '' },
  { name: 'no early end', of: /^ +(?:return|continue|break)\b[^;\n]*;$/gm, becomes: earlyEnd },
  {
    name: 'no minimum',
    of: /Math\.(?:min|max)\(/g,
    becomes: (text) => (text === 'Math.min(' ? 'Math.max(' : 'Math.min('),
  },
  {
    name: 'SQL condition',
    sql: true,
    of: /\band (?!\()(?:\$\{[^}\n]*\}|\([^()\n]*\)|[^\n`()])*?(?=\s+(?:and|or|for|order|limit|returning|group|union)\b|\n|`|\)|$)/g,
    becomes: removedCondition,
  },
  {
    name: 'SQL where',
    sql: true,
    of: /\bwhere (?:\$\{[^}\n]*\}|\([^()\n]*\)|[^\n`()])*?(?=\s+and\b)/g,
    becomes: () => 'where true',
  },
  { name: 'SQL lock', sql: true, of: / for (?:no key )?update(?: of \w+)?(?: skip locked)?/g, becomes: () => '' },
  { name: 'SQL null', sql: true, of: / is (?:not )?null\b/g, becomes: flipNull },
  { name: 'SQL order', sql: true, of: / order by [^\n)`]*/g, becomes: () => '' },
  { name: 'SQL bound', sql: true, of: / (?:greatest|least)\(/g, becomes: flipBound },
]

/** All mutants of a compiled file: where, what stood there, and what is put there. */
export function mutantsOf(text) {
  const inSql = statementsOf(text)
  const isWithin = (ranges, at) => ranges.some(([start, end]) => at >= start && at < end)
  const quiet = [...text.matchAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^(?:import|export \{).*$|'(?:\\.|[^'\\\n])*'/gm)].map(
    (match) => [match.index, match.index + match[0].length],
  )
  return operators.flatMap(({ name, of, becomes, sql = false }) =>
    [...text.matchAll(of)].flatMap((match) => {
      const { index } = match
      if (isWithin(quiet, index) || isWithin(inSql, index) !== sql) return []
      const replacement = becomes(match[0], text, index)
      return replacement === undefined || replacement === match[0]
        ? []
        : [{ operator: name, start: index, end: index + match[0].length, was: match[0], is: replacement }]
    }),
  )
}

/** Where SQL is written: between sql ` and its end, without what is filled in. */
function statementsOf(text) {
  const ranges = []
  for (const { index, 0: begin } of text.matchAll(/\bsql\s*`/g)) {
    let start = index + begin.length
    let at = start
    for (let depth = 0; at < text.length; at += 1) {
      if (depth === 0 && text[at] === '`') break
      if (text.startsWith('${', at)) {
        if (depth === 0) ranges.push([start, at])
        depth += 1
      } else if (text[at] === '{' && depth > 0 && text[at - 1] !== '$') depth += 1
      else if (text[at] === '}' && depth > 0) {
        depth -= 1
        if (depth === 0) start = at + 1
      }
    }
    ranges.push([start, at])
  }
  return ranges
}

function flipComparison(text) {
  return { ' < ': ' <= ', ' <= ': ' < ', ' > ': ' >= ', ' >= ': ' > ' }[text]
}

function otherNumber(text) {
  const number = Number(text.replaceAll('_', ''))
  return number === 0 ? '1' : number === 1 ? '0' : String(number + 1)
}

/** Only the end of a guard, which stands alone under its condition: without it what follows would be run. */
function earlyEnd(text, whole, index) {
  const before = whole.slice(whole.lastIndexOf('\n', index - 2) + 1, index - 1)
  return /^\s*(?:if|else if) \(.*\)$/.test(before) ? text.replace(/\S.*$/, ';') : undefined
}

/** A condition that reaches into what is filled in is taken out with it. */
function removedCondition(text) {
  const opened = (text.match(/\(/g) ?? []).length
  const closed = (text.match(/\)/g) ?? []).length
  return opened === closed && (text.match(/\$\{/g) ?? []).length === (text.match(/\}/g) ?? []).length ? '' : undefined
}

function flipNull(text) {
  return text === ' is null' ? ' is not null' : ' is null'
}

function flipBound(text) {
  return text === ' least(' ? ' greatest(' : ' least('
}
