// Random Liquid templates and payloads, of what people write and of what they hardly would.
import type { Random } from './random.ts'

const names = [
  'a',
  'b',
  'text',
  'list',
  'items',
  'object',
  'n',
  'nothing',
  'item',
  'x',
  'payload',
  'subscriber',
  'forloop',
]
const members = ['name', 'price', 'a', 'b', 'size', 'first', 'last', 'length', 'index', 'index0', 'rindex', 'key', 'no']
const literals = ['1', '0', '-1', '2.5', '"a"', "'<b>'", '"two words"', '""', 'true', 'false', 'nil', 'empty', 'blank']
const operators = ['==', '!=', '>', '<', '>=', '<=', 'contains', 'and', 'or']
const texts = ['x', ' ', 'Hello ', '<p>', '</p>', '<b>', '</b>', '\n', '&amp;', ', ', '<a href="', '">', '</a>', '<br>']

const plainFilters = [
  ...[
    'upcase',
    'downcase',
    'capitalize',
    'strip',
    'escape',
    'size',
    'first',
    'last',
    'reverse',
    'sort',
    'uniq',
    'json',
  ],
  ...['abs', 'ceil', 'floor', 'round', 'newline_to_br', 'strip_html', 'url_encode', 'titlecase', 'to_sentence', 'raw'],
  ...['compact', 'escape_once', 'number_format', 'squish', 'sum', 'toSentence', 'digest', 'date', 'pluralize'],
]
const argumentFilters = [
  ...[
    'append',
    'prepend',
    'default',
    'plus',
    'minus',
    'times',
    'modulo',
    'divided_by',
    'join',
    'split',
    'map',
    'where',
  ],
  ...[
    'truncate',
    'remove',
    'slice',
    'concat',
    'push',
    'group_by',
    'sort_by',
    'pluralize',
    'has',
    'find',
    'date',
    'digest',
  ],
]

export function randomValue(random: Random, depth = 0): unknown {
  const simple = [
    1,
    0,
    -2,
    3.75,
    19.9,
    '',
    'word',
    'two words',
    '<b>&"\'',
    ' edge ',
    'a\nb',
    '2024-05-01',
    true,
    false,
    null,
  ]
  if (depth > 2 || random.chance(0.5)) return random.oneOf(simple)
  if (random.chance(0.5)) return Array.from({ length: random.integer(5) }, () => randomValue(random, depth + 1))
  return randomObject(random, depth + 1)
}

export function randomObject(random: Random, depth = 0): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const name of ['name', 'price', 'a', 'b', 'size', 'key']) {
    if (random.chance(name === 'size' ? 0.1 : 0.5)) object[name] = randomValue(random, depth + 1)
  }
  return object
}

export function randomPayload(random: Random): Record<string, unknown> {
  return {
    a: randomValue(random),
    b: randomValue(random),
    n: random.integer(6),
    text: random.oneOf(['word', 'two words', '<i>&', '', ' a  b ', 'name']),
    list: Array.from({ length: random.integer(5) }, () => randomValue(random, 2)),
    items: Array.from({ length: random.integer(4) }, () => randomObject(random, 1)),
    object: randomObject(random),
  }
}

function randomPath(random: Random): string {
  let path: string = random.oneOf(names)
  for (let count = random.integer(3); count > 0; count -= 1) {
    const kind = random.integer(8)
    if (kind === 0) path += `[${random.oneOf(['0', '-1', '1', '"name"', 'text', 'n', 'nothing', '9'])}]`
    else path += `.${random.oneOf(members)}`
  }
  return path
}

function randomOperand(random: Random): string {
  if (random.chance(0.3)) return random.oneOf(literals)
  if (random.chance(0.05)) return random.oneOf(['(1..3)', '(0..n)', '(n..2)', '(a..b)', '(1..items.size)'])
  return randomPath(random)
}

function randomCondition(random: Random): string {
  let condition = `${random.chance(0.1) ? 'not ' : ''}${randomOperand(random)}`
  for (let count = random.integer(3); count > 0; count -= 1) {
    condition += ` ${random.oneOf(operators)} ${randomOperand(random)}`
  }
  return condition
}

function randomFilters(random: Random): string {
  let filters = ''
  for (let count = random.chance(0.5) ? 0 : 1 + random.integer(3); count > 0; count -= 1) {
    if (random.chance(0.5)) filters += ` | ${random.oneOf(plainFilters)}`
    else {
      const second = random.chance(0.2) ? `, ${randomOperand(random)}` : ''
      filters += ` | ${random.oneOf(argumentFilters)}: ${randomOperand(random)}${second}`
    }
  }
  return filters
}

export const randomOutput = (random: Random): string =>
  `{{ ${randomOperand(random)}${random.chance(0.1) ? ` == ${randomOperand(random)}` : ''}${randomFilters(random)} }}`

function randomLoop(random: Random, inner: () => string): string {
  const over = random.oneOf([
    'list',
    'items',
    'object',
    '(1..3)',
    '(1..n)',
    'text',
    'a',
    'items',
    'nothing',
    randomPath(random),
  ])
  const modifiers = [
    random.chance(0.2) ? ` limit: ${random.oneOf(['2', '0', 'n', 'nothing', '"1"'])}` : '',
    random.chance(0.2) ? ` offset: ${random.oneOf(['1', 'n', 'continue', 'nothing', '9'])}` : '',
    random.chance(0.2) ? ' reversed' : '',
  ].join('')
  const otherwise = random.chance(0.2) ? `{% else %}${inner()}` : ''
  const jump = random.chance(0.2)
    ? `{% if ${randomCondition(random)} %}{% ${random.oneOf(['break', 'continue'])} %}{% endif %}`
    : ''
  return `{% for ${random.oneOf(['item', 'x', 'a'])} in ${over}${modifiers} %}${inner()}${jump}${inner()}${otherwise}{% endfor %}`
}

function randomTag(random: Random, inner: () => string): string {
  switch (random.integer(14)) {
    case 0:
    case 1:
    case 2:
      return randomLoop(random, inner)
    case 3:
    case 4:
      return `{% if ${randomCondition(random)} %}${inner()}{% elsif ${randomCondition(random)} %}${inner()}{% else %}${inner()}{% endif %}`
    case 5:
      return `{% unless ${randomCondition(random)} %}${inner()}{% else %}${inner()}{% endunless %}`
    case 6:
      return `{% assign ${random.oneOf(['x', 'a', 'item'])} = ${randomOperand(random)}${randomFilters(random)} %}`
    case 7:
      return `{% capture x %}${inner()}{% endcapture %}`
    case 8:
      return `{% case ${randomOperand(random)} %}{% when ${randomOperand(random)}, ${randomOperand(random)} %}${inner()}{% when ${randomOperand(random)} %}${inner()}{% else %}${inner()}{% endcase %}`
    case 9:
      return random.oneOf(['{% raw %}{{ x }}<b>{% endraw %}', '{% comment %}{{ x }}{% endcomment %}', '{% # note %}'])
    case 10:
      return random.oneOf(['{% increment n %}', '{% decrement m %}', `{% cycle "a", ${randomOperand(random)} %}`])
    case 11:
      return `{% echo ${randomOperand(random)}${randomFilters(random)} %}`
    case 12:
      return `{% tablerow item in ${random.oneOf(['list', 'items', 'object'])} cols: 2 %}${inner()}{% endtablerow %}`
    default:
      return `{% liquid\nassign x = ${randomOperand(random)}\necho x\nif ${randomCondition(random)}\necho "y"\nendif\n%}`
  }
}

export function randomTemplate(random: Random, depth = 0): string {
  let template = ''
  for (let count = 1 + random.integer(4); count > 0; count -= 1) {
    const kind = random.integer(3)
    if (kind === 0) template += random.oneOf(texts)
    else if (kind === 1 || depth > 2) template += randomOutput(random)
    else template += randomTag(random, () => randomTemplate(random, depth + 1))
  }
  return template
}
