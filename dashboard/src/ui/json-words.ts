// JSON as the editor colours it: names, texts, numbers and words; what is wrong with it is said by whoever reads it.
import { StreamLanguage } from '@codemirror/language'

const name = /^"(?:[^"\\]|\\.)*"(?=\s*:)/
const text = /^"(?:[^"\\]|\\.)*"?/
const number = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/

export const jsonLanguage = StreamLanguage.define<null>({
  name: 'json',
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null
    if (stream.match(name)) return 'propertyName'
    if (stream.match(text)) return 'string'
    if (stream.match(number)) return 'number'
    if (stream.match(/^(?:true|false)\b/)) return 'bool'
    if (stream.match(/^null\b/)) return 'null'
    stream.next()
    return null
  },
})
