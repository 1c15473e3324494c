// Patterns of JavaScript in the words of RE2, with the same meaning: what the two read differently is spelled out.

export interface Translation {
  readonly text: string
  /** About how many instructions it becomes: what is repeated counts as often as it is. */
  readonly size: number
}

/** RE2 repeats nothing oftener. */
const repeatsMax = 1_000
/** A property of Unicode is some hundred ranges. */
const propertySize = 50

/** What JavaScript calls white space, and all else: for RE2 only six of them are. */
const blank = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const notBlank = [
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}',
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}',
].join('')
const blankSize = 10
const anything = '\\x{0}-\\x{10ffff}'
const notLineEnd = '[^\\n\\r\\x{2028}\\x{2029}]'

class Untranslatable extends Error {}

/**
 * Undefined for what has no counterpart: lookahead, lookbehind, backreferences, properties whose names differ. The
 * pattern must be one that JavaScript accepts with the flag `u`, under which every escape has a meaning. Undefined as well
 * if it becomes larger than `sizeMax`: it is read no further than that shows.
 */
export function translated(pattern: string, sizeMax = Number.POSITIVE_INFINITY): Translation | undefined {
  try {
    const translation = new Translator(pattern, sizeMax).whole()
    return translation.size > sizeMax ? undefined : translation
  } catch (error) {
    if (error instanceof Untranslatable || error instanceof RangeError) return undefined
    throw error
  }
}

class Translator {
  readonly #pattern: string
  /** Each character, set and group counts for one instruction or more. */
  #atomsLeft: number
  #at = 0

  constructor(pattern: string, atomsMax: number) {
    this.#pattern = pattern
    this.#atomsLeft = atomsMax
  }

  whole(): Translation {
    const result = this.#alternatives()
    if (this.#at < this.#pattern.length) throw new Untranslatable()
    return result
  }

  #alternatives(): Translation {
    const texts: string[] = []
    let size = 1
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ')') {
      if (this.#takes('|')) {
        texts.push('|')
        size += 1
        continue
      }
      const atom = this.#repeated(this.#atom())
      texts.push(atom.text)
      size += atom.size
    }
    return { text: texts.join(''), size }
  }

  #takes(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  /** What a sticky pattern finds here. */
  #matches(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at
    const found = sticky.exec(this.#pattern)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }

  #atom(): Translation {
    this.#countAtom()
    if (this.#takes('(')) return this.#group()
    if (this.#takes('[')) return this.#class()
    if (this.#takes('.')) return { text: notLineEnd, size: 4 }
    if (this.#takes('^')) return { text: '\\A', size: 1 }
    if (this.#takes('$')) return { text: '\\z', size: 1 }
    if (this.#takes('\\b')) return { text: '\\b', size: 1 }
    if (this.#takes('\\B')) return { text: '\\B', size: 1 }
    const { text, size, isSet } = this.#character()
    return { text: isSet ? `[${text}]` : text, size }
  }

  #countAtom(): void {
    this.#atomsLeft -= 1
    if (this.#atomsLeft < 0) throw new Untranslatable()
  }

  /** The groups and their names are not needed: the only question is whether all matches. */
  #group(): Translation {
    if (this.#takes('?') && !this.#takes(':') && this.#matches(/<[^=!>][^>]*>/y) === undefined)
      throw new Untranslatable()
    const { text, size } = this.#alternatives()
    if (!this.#takes(')')) throw new Untranslatable()
    return { text: `(?:${text})`, size }
  }

  #repeated({ text, size }: Translation): Translation {
    const found = this.#matches(/(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y)
    if (found === undefined) return { text, size }
    const [whole, sign, least = '', comma, most = ''] = found
    if (sign !== undefined) return { text: `${text}${sign}`, size: size + 1 }
    const times = Math.max(Number(least) + (comma === ',' && most === '' ? 1 : 0), Number(most))
    if (times > repeatsMax) throw new Untranslatable()
    return { text: `${text}${whole.replace(/\?$/, '')}`, size: size * Math.max(1, times) + 1 }
  }

  #class(): Translation {
    const isNegated = this.#takes('^')
    const pieces: string[] = []
    let size = 1
    while (!this.#takes(']')) {
      if (this.#at >= this.#pattern.length) throw new Untranslatable()
      this.#countAtom()
      const piece = this.#character(true)
      pieces.push(piece.text)
      size += piece.size
      // A minus at the beginning or the end, or next to a set, is literal; between two characters it makes a range.
      if (piece.isSet || !this.#pattern.startsWith('-', this.#at) || this.#pattern[this.#at + 1] === ']') continue
      this.#at += 1
      pieces.push('-', this.#character(true).text)
    }
    if (pieces.length === 0) return { text: isNegated ? `[${anything}]` : `[^${anything}]`, size: 1 }
    return { text: `[${isNegated ? '^' : ''}${pieces.join('')}]`, size }
  }

  #character(isInClass = false): Translation & { isSet: boolean } {
    const one = (code: number) => ({ text: literal(code), size: 1, isSet: false })
    const set = (text: string, size: number) => ({ text, size, isSet: true })
    if (!this.#takes('\\')) {
      const code = this.#pattern.codePointAt(this.#at) ?? 0
      this.#at += code > 0xffff ? 2 : 1
      return one(code)
    }
    const [, kind] = this.#matches(/([dDwWsS])/y) ?? []
    if (kind !== undefined) {
      return kind === 's' ? set(blank, blankSize) : kind === 'S' ? set(notBlank, blankSize) : set(`\\${kind}`, 4)
    }
    const [, which, property] = this.#matches(/([pP])\{([^}]*)\}/y) ?? []
    if (property !== undefined) return set(`\\${which}{${propertyName(property)}}`, propertySize)
    if (isInClass && this.#takes('b')) return one(8)
    return one(this.#escaped())
  }

  /** The code of the character that an escape stands for. */
  #escaped(): number {
    const [, hex] = this.#matches(/(?:x([\dA-Fa-f]{2}))/y) ?? this.#matches(/u\{([\dA-Fa-f]+)\}/y) ?? []
    if (hex !== undefined) return Number.parseInt(hex, 16)
    const [, high, low] = this.#matches(/u([Dd][89ABab][\dA-Fa-f]{2})\\u([Dd][C-Fc-f][\dA-Fa-f]{2})/y) ?? []
    if (high !== undefined && low !== undefined) {
      return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0) ?? 0
    }
    const [, four] = this.#matches(/u([\dA-Fa-f]{4})/y) ?? []
    if (four !== undefined) return Number.parseInt(four, 16)
    const [, control] = this.#matches(/c([A-Za-z])/y) ?? []
    if (control !== undefined) return control.charCodeAt(0) % 32
    if (this.#matches(/0(?!\d)/y) !== undefined) return 0
    const [sign] = this.#matches(/[tnvfr]/y) ?? []
    if (sign !== undefined) return { t: 9, n: 10, v: 11, f: 12, r: 13 }[sign] ?? 0
    // Syntax characters are literal; anything else is a backreference.
    const [itself] = this.#matches(/[\^$\\.*+?()[\]{}|/-]/y) ?? []
    if (itself === undefined) throw new Untranslatable()
    return itself.charCodeAt(0)
  }
}

/** Halves of a character are not in the texts of RE2. */
function literal(code: number): string {
  if (code >= 0xd800 && code <= 0xdfff) throw new Untranslatable()
  const text = String.fromCodePoint(code)
  return /^[A-Za-z0-9]$/.test(text) ? text : `\\x{${code.toString(16)}}`
}

/** Categories by their short names, and scripts. */
function propertyName(property: string): string {
  const [, category] = /^(?:(?:gc|General_Category)=)?([LMNPSZ][a-z]?|Cc|Cf|Co)$/.exec(property) ?? []
  const [, script] = /^(?:sc|Script)=([A-Z][a-z]+(?:_[A-Z][a-z]+)*)$/.exec(property) ?? []
  const name = category ?? script
  if (name === undefined || name === 'LC') throw new Untranslatable()
  return name
}
