// Applies an edit as documents show it: lines with a blank, `-` or `+` before them. What was there must be there once.
import { readFileSync, writeFileSync } from 'node:fs'

const [path, diff] = process.argv.slice(2)
const text = readFileSync(path, 'utf8')
// Parts of a file that lie apart are divided by a line with an ellipsis.
const changed = readFileSync(diff, 'utf8').trimEnd().split(/^…$/m).reduce(edited, text)
writeFileSync(path, changed)

function edited(whole, part) {
  const lines = part.split('\n').filter((line) => line !== '')
  const side = (sign) => lines.filter((line) => line[0] === ' ' || line[0] === sign).map((line) => `${line.slice(1)}\n`)
  const before = side('-').join('')
  const times = whole.split(before).length - 1
  if (before === '' || times !== 1) {
    console.error(`${path} has this ${times} times, and once is needed:\n${before}`)
    process.exit(1)
  }
  return whole.replace(before, () => side('+').join(''))
}
