// Renders the Helm chart: as much of Go's templates and of Helm's functions as the chart uses. What it does not know, it refuses.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments, stringify } from 'yaml'
import type { Json } from '../support/app.ts'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'

const folder = 'deploy/helm/posthorn'

type Node =
  | string
  | { readonly keyword: string; readonly rest: string; readonly inside: Node[]; readonly otherwise: Node[] }

interface Scope {
  readonly dot: Json
  readonly variables: ReadonlyMap<string, Json>
}

/** The objects that Helm would create, with these values over those of the chart. */
export function renderChart(values: Json = {}, releaseName = 'posthorn'): Json[] {
  const names = readdirSync(join(projectRoot, folder, 'templates')).sort()
  const templates = names.map((name) => parsed(readProjectFile(`${folder}/templates/${name}`)))
  const { name, version, appVersion } = parse(readProjectFile(`${folder}/Chart.yaml`))
  const root = {
    Values: merged(parse(readProjectFile(`${folder}/values.yaml`)), values),
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: releaseName, Service: 'Helm' },
  }
  const defined = new Map<string, Node[]>()
  const scope = { dot: root, variables: new Map() }
  const text = templates.map((template) => rendered(template, scope, defined)).join('\n---\n')
  return parseAllDocuments(text).flatMap((document) => {
    assert.deepEqual(document.errors, [], text)
    return document.toJS() ?? []
  })
}

function merged(defaults: Json, values: Json): Json {
  const isMap = (value: Json) => typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap(defaults) || !isMap(values)) return values
  const changed = Object.entries(values).map(([key, value]) => [
    key,
    key in defaults ? merged(defaults[key], value) : value,
  ])
  return { ...defaults, ...Object.fromEntries(changed) }
}

/** `{{-` takes the white space before it away, `-}}` that after it. */
function parsed(text: string): Node[] {
  const parts = text
    .replace(/\s+\{\{-/g, '{{')
    .replace(/^\{\{-/, '{{')
    .replace(/-\}\}\s*/g, '}}')
    .split(/\{\{(.*?)\}\}/s)
  const root: Node[] = []
  const open: { node: Exclude<Node, string>; into: Node[] }[] = []
  const into = () => open.at(-1)?.into ?? root
  for (const [index, part] of parts.entries()) {
    const action = part.trim()
    const keyword = action.split(/\s/)[0] ?? ''
    if (index % 2 === 0) into().push(part)
    else if (['if', 'with', 'range', 'define'].includes(keyword)) {
      const node = { keyword, rest: action.slice(keyword.length).trim(), inside: [], otherwise: [] }
      into().push(node)
      open.push({ node, into: node.inside })
    } else if (action === 'else') {
      const { node } = open.pop() ?? assert.fail('else without if')
      open.push({ node, into: node.otherwise })
    } else if (action === 'end') assert.ok(open.pop() !== undefined, 'an end too many')
    else if (!action.startsWith('/*')) into().push({ keyword: '', rest: action, inside: [], otherwise: [] })
  }
  assert.equal(open.length, 0, 'a block has no end')
  return root
}

function rendered(nodes: readonly Node[], scope: Scope, defined: Map<string, Node[]>): string {
  const body = (within: readonly Node[], dot = scope.dot, variables = scope.variables) =>
    rendered(within, { dot, variables }, defined)
  const texts = nodes.map((node) => {
    if (typeof node === 'string') return node
    const { keyword, rest, inside, otherwise } = node
    if (keyword === 'define') {
      defined.set(JSON.parse(rest), inside)
      return ''
    }
    const [, key, item, expression] = /^(\$\w+), (\$\w+) := (.*)$/.exec(rest) ?? ['', '', '', rest]
    const value = evaluated(expression ?? '', scope, (name, dot) => body(defined.get(name) ?? assert.fail(name), dot))
    if (keyword === 'if') return body(isTrue(value) ? inside : otherwise)
    if (keyword === 'with') return isTrue(value) ? body(inside, value) : body(otherwise)
    if (keyword === 'range') {
      const entries = Object.entries<Json>(value ?? {})
      return entries
        .map(([name, one]) =>
          body(
            inside,
            one,
            new Map([
              [key ?? '', name],
              [item ?? '', one],
            ]),
          ),
        )
        .join('')
    }
    return String(value ?? '')
  })
  return texts.join('')
}

const isTrue = (value: Json): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)

const indented = (value: Json, spaces: Json): string => `\n${value}`.replaceAll('\n', `\n${' '.repeat(spaces)}`)

type Included = (name: string, dot: Json) => string

/** With what comes through the pipe as the last argument. */
const functions: Readonly<Record<string, (...values: Json[]) => Json>> = {
  quote: (value) => JSON.stringify(String(value)),
  nindent: (spaces, value) => indented(value, spaces),
  toYaml: (value) => stringify(value).trimEnd(),
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  required: (message, value) => (isTrue(value) ? value : assert.fail(message)),
  trunc: (length, value) => String(value).slice(0, length),
  trimSuffix: (suffix, value) => (String(value).endsWith(suffix) ? String(value).slice(0, -suffix.length) : value),
  contains: (part, value) => String(value).includes(part),
  printf: (format, ...values) => String(format).replace(/%s/g, () => String(values.shift())),
}

function evaluated(expression: string, scope: Scope, include: Included): Json {
  let piped: Json[] = []
  for (const command of expression.match(/(?:"[^"]*"|[^|"])+/g) ?? []) {
    const words = command.trim().match(/"[^"]*"|\S+/g) ?? []
    const [first = '', ...rest] = words
    const args = () => [...rest.map((word) => atomOf(word, scope)), ...piped]
    if (first === 'include') piped = [include(...(args() as [string, Json]))]
    else if (/^[a-z]\w*$/i.test(first)) piped = [(functions[first] ?? assert.fail(`no function ${first}`))(...args())]
    else piped = [atomOf(first, scope)]
  }
  return piped[0]
}

function atomOf(word: string, { dot, variables }: Scope): Json {
  if (word.startsWith('"')) return JSON.parse(word)
  if (/^\d+$/.test(word)) return Number(word)
  if (word.startsWith('$')) return variables.has(word) ? variables.get(word) : assert.fail(`no variable ${word}`)
  assert.ok(word.startsWith('.'), `neither a value nor a function: ${word}`)
  return word
    .split('.')
    .filter((name) => name !== '')
    .reduce((value, name) => value?.[name], dot)
}
